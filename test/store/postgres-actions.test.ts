import { expect, test } from 'bun:test';
import type { Schedule, ScheduleSpec } from '../../src/core/schedules/schedule.ts';
import { jobSpec, NOW } from '../support/jobs.ts';
import { withPostgres } from '../support/postgres.ts';

const unique = { key: 'k', while: 'active', forMs: null } as const;

/** Counts the values that are not null. */
const count = (values: unknown[]): number => values.filter((value) => value !== null).length;

test('of a retry and an insert with the same unique key at once, one gets the key', () =>
  withPostgres(async (store) => {
    await store.insert([jobSpec('old', { unique })], NOW);
    for (let round = 0; round < 20; round++) {
      await store.cancel(['old', `new${round - 1}`], NOW);
      const [retried, inserted] = await Promise.all([
        store.retry(['old'], ['cancelled'], NOW),
        store.insert([jobSpec(`new${round}`, { unique })], NOW),
      ]);
      const isNew = inserted[0]!.id === `new${round}`;
      expect({ round, retried }).toEqual({ round, retried: isNew ? [] : ['old'] });
    }
  }));

test('a retry that waits for the insert of a job with its key leaves the key to that job', () =>
  withPostgres(async (store, connection) => {
    await store.insert([jobSpec('old', { unique })], NOW);
    await store.cancel(['old'], NOW);
    let retrying: Promise<string[]> | null = null;
    // The insert takes the key, but commits only after the retry has found the key free and waits for its row in the index.
    await connection.write('insert', async (tx) => {
      await tx.run(`INSERT INTO job (id, queue, state, phase, priority, max_retries, created_at, updated_at, due_at, cwd,
        command, unique_key, unique_while, unique_slot)
        SELECT 'new', queue, 'pending', 'ready', 0, 0, 0, 0, 0, '/', 'true', 'k', 'active', 'k' FROM job WHERE id = 'old'`);
      retrying = store.retry(['old'], ['cancelled'], NOW);
      for (;;) {
        const { waiting } = (await tx.get<{ waiting: number }>(
          'SELECT count(*) AS waiting FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid',
        ))!;
        if (waiting > 0) break;
      }
    });
    expect(await retrying!).toEqual([]);
    expect(await store.keyHolder('old', ['cancelled'], NOW)).toBe('new');
  }));

const every: ScheduleSpec = {
  name: 's',
  timing: { kind: 'every', everyMs: 1000, anchorAt: NOW },
  overlap: 'allow',
  catchUp: 'one',
  job: { command: 'true' },
};

test('of many processes that fire the same ticks at once, in different orders, one enqueues each job', () =>
  withPostgres(async (store) => {
    const names = ['a', 'b', 'c', 'd'];
    const schedules: Schedule[] = [];
    for (const name of names) schedules.push(await store.addSchedule({ ...every, name }, NOW, NOW));
    const fire = (n: number) => {
      const ordered = n % 2 === 0 ? schedules : schedules.toReversed();
      const firings = ordered.map((schedule) => ({
        schedule,
        ticks: [{ at: NOW, mayWait: false, jobId: `${schedule.name}${n}` }],
        nextAt: NOW + 1000,
        waitingJobIds: [],
        job: jobSpec('x'),
      }));
      return store.fire(firings, NOW);
    };
    const fired = await Promise.all(Array.from({ length: 8 }, (_, n) => fire(n)));
    expect(count(fired.flat())).toBe(names.length);
    expect(await store.counts()).toEqual([{ queue: 'default', state: 'pending', jobs: names.length }]);
  }));

test('a schedule that is added twice at once is refused once', () =>
  withPostgres(async (store) => {
    const added = await Promise.all(
      Array.from({ length: 6 }, () => store.addSchedule(every, NOW, NOW).catch(() => null)),
    );
    expect(count(added)).toBe(1);
  }));

test('many actions on the same jobs in different orders end, and the counters match the rows', () =>
  withPostgres(async (store, connection) => {
    const ids = Array.from({ length: 20 }, (_, i) => `job${i}`);
    await store.insert(
      ids.map((id) => jobSpec(id)),
      NOW,
    );
    const reversed = ids.toReversed();
    const actions = [
      () => store.cancel(ids, NOW),
      () => store.retry(reversed, ['cancelled'], NOW),
      () => store.hold(reversed, NOW),
      () => store.release(ids, NOW),
      () => store.edit(reversed, { queue: 'other' }, NOW),
      () => store.edit(ids, { queue: 'default', priority: 3 }, NOW),
    ];
    await Promise.all(Array.from({ length: 30 }, (_, i) => actions[i % actions.length]!()));
    await store.remove(reversed.slice(10), ['pending', 'cancelled'], NOW);
    const rows = await connection.read((tx) =>
      tx.all(`SELECT queue.name AS queue, state, count(*) AS jobs FROM job JOIN queue ON queue.number = job.queue
        GROUP BY queue.name, state ORDER BY queue.name, state`),
    );
    const counts = await store.counts();
    expect(new Set(counts.map((one) => ({ ...one })))).toEqual(
      new Set(rows.map((one) => ({ ...one })) as never),
    );
    expect(counts.reduce((sum, one) => sum + one.jobs, 0)).toBe(10);
  }));
