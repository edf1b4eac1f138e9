import { expect, test } from 'bun:test';
import type { ScheduleSpec } from '../../src/core/schedules/schedule.ts';
import type { ExportedRow } from '../../src/store/contract/care.ts';
import { postgresCare } from '../../src/store/postgres/care/server-care.ts';
import { quoteName } from '../../src/store/postgres/connection/location.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { startCuttingProxy } from '../support/cutting-proxy.ts';
import { ending, failedWith, jobSpec, NOW, startJob, succeeded } from '../support/jobs.ts';
import { makeTempSchema, onServer } from '../support/postgres.ts';
import { inTempDir } from '../support/temp-dir.ts';

const settleLost = (job: Parameters<typeof ending>[0]) => ending(job, { why: 'lost' });
const options = { onConflict: 'fail', settleLost, keepFile: () => {} } as const;

async function dumpRows(store: Store): Promise<ExportedRow[]> {
  const rows: ExportedRow[] = [];
  await store.dump((row) => rows.push(row));
  return rows;
}

/** Dumps rows without the times of events and settings. A PostgreSQL store takes these from the clock of its server. */
async function dumpWithoutClock(store: Store): Promise<ExportedRow[]> {
  const own: Record<string, ExportedRow['row']> = { event: { at: null }, setting: { updated_at: null } };
  return (await dumpRows(store)).map(({ table, row }) => ({ table, row: { ...row, ...own[table] } }));
}

/** Runs a test on a new PostgreSQL store and a new file store. */
async function onBoth(work: (postgres: Store, file: Store, url: string) => Promise<void>): Promise<void> {
  const schema = await makeTempSchema();
  const given = { actor: 'someone' };
  await inTempDir(async (home) => {
    const { store: postgres } = await openPostgres(schema.url, given, { QUEUECTL_HOME: home });
    const { store: file } = await openSqlite(`${home}/queue.db`, given);
    try {
      await work(postgres, file, schema.url);
    } finally {
      await postgres.close();
      await file.close();
    }
  });
  await schema.drop();
}

const hourly: ScheduleSpec = {
  name: 'hourly',
  timing: { kind: 'every', everyMs: 3_600_000, anchorAt: NOW },
  overlap: 'queue',
  catchUp: 'all',
  job: { command: 'true' },
};

/** Does something with every table of a store. */
async function fill(store: Store): Promise<void> {
  await store.set('max-retries', '7', () => {});
  await store.setQueue('mail', { concurrency: 2, rate: { jobs: 3, perMs: 1000 } });
  const kept = Buffer.from([0, 10, 255]);
  const done = await startJob(store, 'done', { name: 'report', stdin: 'ä\n' });
  await store.settle(ending(done, succeeded, NOW + 5, { output: { bytes: 3, truncated: false, kept } }));
  const failed = await startJob(store, 'failed', { backoffBase: 1.5, tags: { a: 'ü"\\' } });
  await store.settle(ending(failed, failedWith(1)));
  await store.insert([jobSpec('child', { dependsOn: [{ id: 'failed', on: 'ok' }], queue: 'mail' })], NOW);
  await store.insert([jobSpec('key', { unique: { key: 'k', while: 'active', forMs: null } })], NOW);
  await store.insert([jobSpec('again')], NOW, undefined, { key: 'once', body: 'b' });
  await store.hold(['key'], NOW);
  await store.cancel(['again'], NOW);
  const schedule = await store.addSchedule(hourly, NOW, NOW);
  const ticks = [1, 2].map((n) => ({ at: NOW + n, mayWait: true, jobId: `tick${n}` }));
  await store.fire([{ schedule, ticks, nextAt: NOW + 9, waitingJobIds: [], job: jobSpec('t') }], NOW + 2);
}

test('a dump has the same rows as the dump of a file store with the same contents', () =>
  onBoth(async (postgres, file) => {
    await fill(postgres);
    await fill(file);
    const rows = await dumpWithoutClock(postgres);
    const expected = await dumpWithoutClock(file);
    expect(rows).toEqual(expected);
    // The texts also show whether the columns have the same order.
    expect(rows.map((row) => JSON.stringify(row.row))).toEqual(
      expected.map((row) => JSON.stringify(row.row)),
    );
  }));

test('a dump of a file store is loaded, and dumps the same again', () =>
  onBoth(async (postgres, file) => {
    await fill(file);
    const rows = await dumpRows(file);
    await postgres.load(rows, options);
    expect(await dumpRows(postgres)).toEqual(rows);
    expect(new Set(await postgres.counts())).toEqual(new Set(await file.counts()));
    await postgres.insert([jobSpec('new')], NOW);
    expect((await postgres.list({}, { limit: 1 }))[0]?.id).toBe('new');
  }));

test('jobs that are enqueued during a load get other numbers than the loaded ones', () =>
  onBoth(async (postgres, file, url) => {
    await file.insert(
      Array.from({ length: 3000 }, (_, i) => jobSpec(`job${i}`)),
      NOW,
    );
    const rows = await dumpRows(file);
    const others = inTempDir(async (home) => {
      const { store } = await openPostgres(url, {}, { QUEUECTL_HOME: home });
      for (let i = 0; i < 100; i++) await store.insert([jobSpec(`other${i}`)], NOW);
      await store.close();
    });
    await Promise.all([others, postgres.load(rows, options)]);
    expect(await postgres.counts()).toEqual([{ queue: 'default', state: 'pending', jobs: 3100 }]);
  }));

/** Runs a test on a store with 1,200 jobs that is reached through a proxy. */
async function throughProxy(
  work: (store: Store, proxy: Awaited<ReturnType<typeof startCuttingProxy>>) => Promise<void>,
): Promise<void> {
  const schema = await makeTempSchema();
  const proxy = await startCuttingProxy(schema.url);
  await inTempDir(async (home) => {
    const { store } = await openPostgres(proxy.url, {}, { QUEUECTL_HOME: home });
    await store.insert(
      Array.from({ length: 1200 }, (_, i) => jobSpec(`job${i}`)),
      NOW,
    );
    await work(store, proxy);
    await store.close();
  });
  proxy.close();
  await schema.drop();
}

test('a dump whose connection is lost does not begin again', () =>
  throughProxy(async (store, proxy) => {
    const kept: unknown[] = [];
    const dumping = store.dump(({ table, row }) => {
      if (kept.push(`${table} ${row.number}`) === 600) proxy.endConnections();
    });
    expect(await dumping.catch((error: unknown) => error)).toMatchObject({ code: 'store-unavailable' });
    expect(kept.length).toBeGreaterThanOrEqual(600);
    expect(new Set(kept).size).toBe(kept.length);
    expect((await dumpRows(store)).filter(({ table }) => table === 'job')).toHaveLength(1200);
  }));

test('an error of the code that keeps the rows of a dump is not taken for a lost connection', () =>
  throughProxy(async (store) => {
    const brokenPipe = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    let calls = 0;
    const dumping = store.dump(() => {
      calls++;
      throw brokenPipe;
    });
    expect(await dumping.catch((error: unknown) => error)).toBe(brokenPipe);
    expect(calls).toBe(1);
  }));

test('an error of the code that reads the rows of a load is passed on', () =>
  throughProxy(async (store) => {
    const lost = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    let passes = 0;
    const rows = {
      // biome-ignore lint/correctness/useYield: the first row cannot be read.
      *[Symbol.iterator](): Generator<ExportedRow> {
        passes++;
        throw lost;
      },
    };
    expect(await store.load(rows, options).catch((error: unknown) => error)).toBe(lost);
    expect(passes).toBe(1);
  }));

test.each(['UPPER', 'a.b', 'with "quotes"', "it's"])('a queue in the schema %s has no problems', (name) =>
  inTempDir(async (home) => {
    const schema = await makeTempSchema();
    const url = new URL(schema.url);
    const ownName = `${schema.name} ${name}`;
    url.searchParams.set('schema', ownName);
    const { store } = await openPostgres(url.href, {}, { QUEUECTL_HOME: home });
    await fill(store);
    await store.close();
    expect((await postgresCare.check(url.href)).problems).toEqual([]);
    const { isReadable, contents } = await postgresCare.inspect(url.href, true);
    expect(isReadable).toBeTrue();
    expect(contents.find(({ check }) => check === 'contents')?.status).toBe('ok');
    await onServer(schema.url, (client) => client.query(`DROP SCHEMA ${quoteName(ownName)} CASCADE`));
  }),
);
