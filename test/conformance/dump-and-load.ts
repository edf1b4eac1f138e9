import { expect } from 'bun:test';
import type { ExportedFilePart, ExportedRow, LoadCounts } from '../../src/store/contract/care.ts';
import type { Store } from '../../src/store/store.ts';
import { claimOne, ending, jobSpec, NOW, startJob, succeeded } from '../support/jobs.ts';
import type { Case } from './topic.ts';

async function dumpRows(store: Store): Promise<ExportedRow[]> {
  const rows: ExportedRow[] = [];
  await store.dump((row) => rows.push(row));
  return rows;
}

const settleLost = (job: Parameters<typeof ending>[0]) => ending(job, { why: 'lost' });
const loadRows = (
  store: Store,
  rows: (ExportedRow | ExportedFilePart)[],
  onConflict: 'fail' | 'skip' = 'fail',
  keepFile: (file: ExportedFilePart) => void = () => {},
) => store.load(rows, { onConflict, settleLost, keepFile });

/** Returns rows of jobs, attempts, output, queues, settings and counts. Leaves the store without jobs and settings. */
async function rowsOfEveryKind(store: Store): Promise<ExportedRow[]> {
  await store.setQueue('mail', { concurrency: 3 });
  const job = await startJob(store, 'done');
  const kept = new Uint8Array([0, 255, 10]);
  await store.settle(ending(job, succeeded, NOW + 1, { output: { bytes: 3, truncated: false, kept } }));
  await store.insert([jobSpec('waits', { queue: 'mail', tags: { a: 'ü' } })], NOW);
  await store.set('max-retries', '9', () => {});
  const rows = await dumpRows(store);
  await store.remove(['done', 'waits'], ['completed', 'pending'], NOW);
  await store.set('max-retries', null, () => {});
  return rows;
}

export const dumpAndLoad: Record<string, Case> = {
  async 'dumped rows can be loaded: jobs, attempts, output, queues, settings and counts'({ store }) {
    const rows = await rowsOfEveryKind(store);
    expect((await loadRows(store, rows)).added).toMatchObject({ job: 2, attempt: 1, output: 1, setting: 1 });
    expect(await store.get('done')).toMatchObject({ state: 'completed', attempts: 1 });
    const [attempt] = await store.attempts('done');
    expect(await store.output(attempt!.number)).toEqual(new Uint8Array([0, 255, 10]));
    expect(await store.get('waits')).toMatchObject({ queue: 'mail', tags: { a: 'ü' } });
    expect((await store.settings()).get('max-retries')).toBe('9');
    expect(await store.counts()).toContainEqual({ queue: 'mail', state: 'pending', jobs: 1 });
    expect((await claimOne(store)).id).toBe('waits');
  },

  async 'a load whose beforeCommit throws adds nothing'({ store }) {
    const rows = await rowsOfEveryKind(store);
    const load = (beforeCommit: (counts: LoadCounts) => void) =>
      store.load(rows, { onConflict: 'skip', settleLost, keepFile: () => {}, beforeCommit });
    const before = await dumpRows(store);
    const different = new Error('not the same');
    let counts: LoadCounts | null = null;
    const fail = (given: LoadCounts): never => {
      counts = given;
      throw different;
    };
    expect(await load(fail).catch((error: unknown) => error)).toBe(different);
    expect(counts).toMatchObject({ added: { job: 2, attempt: 1 } });
    expect(await dumpRows(store)).toEqual(before);
    await load(() => {});
    expect(await store.get('done')).toMatchObject({ state: 'completed' });
  },

  async 'a load with an existing job is refused, or skips the job with all its rows'({ store }) {
    const rows = await rowsOfEveryKind(store);
    await store.insert([jobSpec('done', { command: 'mine' })], NOW);
    await expect(loadRows(store, rows)).rejects.toMatchObject({ code: 'import-conflict' });
    expect(await store.get('waits')).toBe(null);
    const { added, skipped } = await loadRows(store, rows, 'skip');
    expect({ job: added.job, skipped }).toMatchObject({ job: 1, skipped: { job: 1, attempt: 1, output: 1 } });
    expect(await store.get('done')).toMatchObject({ command: 'mine', state: 'pending' });
    expect(await store.attempts('done')).toEqual([]);
  },

  async 'no later job gets the number, and so the event, of a job that was removed before the dump'({
    store,
  }) {
    await store.insert([jobSpec('a'), jobSpec('b'), jobSpec('c')], NOW);
    await store.remove(['c'], ['pending'], NOW);
    const rows = await dumpRows(store);
    await store.remove(['a', 'b'], ['pending'], NOW);
    await loadRows(store, rows);
    await store.insert([jobSpec('new')], NOW);
    expect(await store.eventsOfJob('new', 0, Number.MAX_SAFE_INTEGER, 10)).toHaveLength(1);
  },

  async 'a job that was running when it was dumped is settled by settleLost'({ store }) {
    await startJob(store, 'runs');
    const rows = await dumpRows(store);
    await store.renew(settleLost);
    await store.remove(['runs'], ['pending'], NOW);
    await loadRows(store, rows);
    expect(await store.get('runs')).toMatchObject({ state: 'pending', crashes: 1 });
    expect(await store.attempts('runs')).toMatchObject([{ why: 'lost' }]);
  },

  'an output file gets the new number of its attempt, and is skipped with its job': async ({ store }) => {
    await startJob(store, 'runs');
    const rows = await dumpRows(store);
    const old = Number(rows.find((one) => one.table === 'attempt')!.row.number);
    const file = { attempt: old, stream: 'stderr', bytes: new Uint8Array([1]) } as const;
    await store.renew(settleLost);
    const kept: ExportedFilePart[] = [];
    await loadRows(store, [...rows, file], 'skip', (one) => kept.push(one));
    expect(kept).toEqual([]);
    await store.remove(['runs'], ['pending'], NOW);
    await loadRows(store, [...rows, file], 'fail', (one) => kept.push(one));
    const [attempt] = await store.attempts('runs');
    expect(kept).toEqual([{ ...file, attempt: attempt!.number }]);
    expect(attempt!.number).not.toBe(old);
  },

  async 'a loaded job waits for its parents, whether they are loaded with it or exist already'({ store }) {
    const childOf = (id: string, parent: string) => jobSpec(id, { dependsOn: [{ id: parent, on: 'ok' }] });
    await store.insert([jobSpec('a', { stdin: 'text' }), childOf('b', 'a'), childOf('c', 'b')], NOW);
    const rows = await dumpRows(store);
    await store.remove(['a', 'b', 'c'], ['pending'], NOW);
    await loadRows(store, rows);
    expect((await store.get('b'))!.blocked).toBe(true);
    expect(await store.stdin('a')).toBe('text');
    await store.remove(['b', 'c'], ['pending'], NOW);
    const claimed = await claimOne(store);
    await store.settle(ending(claimed, succeeded));
    await loadRows(store, rows, 'skip');
    expect((await store.get('b'))!.blocked).toBe(false);
    expect(await store.dependencies('c')).toMatchObject([{ id: 'b', phase: 'open', state: 'pending' }]);
    await store.settle(ending(await claimOne(store, 'w1', NOW + 9000), succeeded));
    expect((await claimOne(store, 'w1', NOW + 9000)).id).toBe('c');
    const counted = Object.fromEntries((await store.counts()).map(({ state, jobs }) => [state, jobs]));
    expect(counted).toEqual({ completed: 2, processing: 1 });
  },

  async 'figures are loaded into a store without figures, and skipped if it has its own'({ store }) {
    await store.setQueue('mail', { concurrency: 3 });
    const [queue] = (await dumpRows(store)).filter((one) => one.table === 'queue' && one.row.name === 'mail');
    const figures: ExportedRow[] = [
      queue!,
      { table: 'rollup_kind', row: { number: 7, queue: queue!.row.number!, name: 'n' } },
      { table: 'rollup', row: { tier: 0, at: 0, kind: 7, completed: 5 } },
    ];
    expect((await loadRows(store, figures)).added).toMatchObject({ rollup_kind: 1, rollup: 1 });
    expect(await store.totals()).toMatchObject([{ queue: 'mail', name: 'n', completed: 5 }]);
    expect((await loadRows(store, figures)).skipped).toMatchObject({ rollup_kind: 1, rollup: 1 });
    expect(await store.totals()).toMatchObject([{ queue: 'mail', name: 'n', completed: 5 }]);
  },

  async 'histograms are loaded unchanged, and invalid ones are refused'({ store }) {
    await store.settle(ending(await startJob(store, 'a', { name: 'n' }), succeeded, NOW + 700));
    await store.remove(['a'], ['completed'], NOW);
    const before = await store.totals();
    const rows = (await dumpRows(store)).filter((one) => /^(queue|rollup)/.test(one.table));
    const load = async (change: (row: ExportedRow['row']) => ExportedRow['row']): Promise<void> => {
      await store.removeQueue('default');
      await loadRows(
        store,
        rows.map((one) => (one.table === 'rollup' ? { ...one, row: change(one.row) } : one)),
      );
    };
    await load((row) => row);
    expect(await store.totals()).toEqual(before);
    for (const odd of [
      { run: Uint8Array.of(0) },
      { wait: 'x' },
      { run_least: null },
      { run_most: 1 },
      { w0: 1 },
    ])
      await expect(load((row) => ({ ...row, ...odd }))).rejects.toMatchObject({ code: 'import-invalid' });
  },

  async 'a loaded job with too low a run count can be claimed'({ store }) {
    const rows = await rowsOfEveryKind(store);
    const waits = rows.find(({ table, row }) => table === 'job' && row.id === 'waits')!.row.number!;
    const changed = rows.map((one) =>
      one.table === 'attempt' ? { ...one, row: { ...one.row, job: waits, ordinal: 1 } } : one,
    );
    await loadRows(store, changed);
    expect(await claimOne(store)).toMatchObject({ id: 'waits', ordinal: 2 });
  },

  async 'a row that violates the schema is refused, and nothing is added'({ store }) {
    const rows = await rowsOfEveryKind(store);
    for (const change of [{ state: 'asleep' }, { priority: 'x' }, { nonsense: 1 }, { tags: '{' }]) {
      const broken = rows.map((one) =>
        one.table === 'job' ? { ...one, row: { ...one.row, ...change } } : one,
      );
      await expect(loadRows(store, broken)).rejects.toMatchObject({ code: 'import-invalid' });
    }
    expect(await store.list({}, { limit: 10 })).toEqual([]);
  },

  async 'an error of a load comes while its own row is the last one that was read'({ store }) {
    await store.insert(
      Array.from({ length: 1200 }, (_, i) => jobSpec(`job${i}`)),
      NOW,
    );
    const rows = await dumpRows(store);
    await store.remove(
      rows.flatMap(({ table, row }) => (table === 'job' ? [String(row.id)] : [])),
      ['pending'],
      NOW,
    );
    const failWith = async (bad: number, change: ExportedRow['row'], code: string): Promise<void> => {
      let last = 0;
      const read = {
        *[Symbol.iterator]() {
          for (const [i, { table, row }] of rows.entries()) {
            last = i;
            yield { table, row: i === bad ? { ...row, ...change } : row };
          }
        },
      };
      const refused = await store
        .load(read, { onConflict: 'fail', settleLost, keepFile: () => {} })
        .catch((error: unknown) => error);
      expect({ refused, last }).toMatchObject({ refused: { code }, last: bad });
    };
    const job = rows.findIndex(({ row }) => row.id === 'job700');
    const queue = rows.findIndex(({ table }) => table === 'queue');
    await failWith(job, { state: 'asleep' }, 'import-invalid');
    await failWith(job, { id: 'job5' }, 'import-conflict');
    await failWith(queue, { number: Number.MAX_SAFE_INTEGER, name: 'other' }, 'import-invalid');
    expect(await store.counts()).toEqual([]);
    await loadRows(store, rows);
    expect(await store.counts()).toEqual([{ queue: 'default', state: 'pending', jobs: 1200 }]);
  },
};
