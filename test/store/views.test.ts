import { describe, expect, test } from 'bun:test';
import { toScheduleObject } from '../../src/actions/schedules.ts';
import { toJobObject } from '../../src/core/jobs/job-object.ts';
import { defaultOf, SETTING_KEYS, SETTINGS, type Setting } from '../../src/core/settings/settings.ts';
import { toIso } from '../../src/core/time/time.ts';
import type { Row } from '../../src/store/row.ts';
import type { Store } from '../../src/store/store.ts';
import {
  ending,
  failedWith,
  jobSpec,
  LEASE_MS,
  NOW,
  newWorker,
  startJob,
  succeeded,
} from '../support/jobs.ts';
import { withPostgres } from '../support/postgres.ts';
import { below, seededRandom } from '../support/random.ts';
import { withSqlite } from '../support/sqlite.ts';

const JSON_COLUMNS = ['argv', 'env', 'tags', 'queues', 'depends_on', 'current_jobs', 'secret_env'];

/** Returns a row of a view with its JSON columns parsed, and its times as printed. */
function parseRow(row: Row): Record<string, unknown> {
  const parse = (column: string, value: unknown) => {
    if (value instanceof Date) return value.toISOString();
    return JSON_COLUMNS.includes(column) && typeof value === 'string' ? JSON.parse(value) : value;
  };
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, parse(column, value)]));
}

interface Views {
  /** Returns the rows of a query as `parseRow` does. */
  all(sql: string): Promise<Record<string, unknown>[]>;
  /** Returns the names of the columns of a view. */
  columns(view: string): Promise<string[]>;
  /** Runs a statement that must fail. */
  run(sql: string): Promise<unknown>;
}

type Work = (store: Store, views: Views) => Promise<void>;

const onSqlite = (work: Work) =>
  withSqlite((store, connection) =>
    work(store, {
      all: async (sql) => connection.all(sql).map(parseRow),
      columns: async (view) =>
        connection.all(`SELECT name FROM pragma_table_info('${view}')`).map((row) => String(row.name)),
      run: async (sql) => connection.exec(sql),
    }),
  );

const onPostgres = (work: Work) =>
  withPostgres(async (store, connection) => {
    const all = (sql: string) => connection.read((tx) => tx.all(sql));
    await work(store, {
      all: async (sql) => (await all(sql)).map(parseRow),
      columns: async (view) =>
        (
          await all(
            `SELECT attname FROM pg_attribute WHERE attrelid = '${view}'::regclass AND attnum > 0 ORDER BY attnum`,
          )
        ).map((row) => String(row.attname)),
      run: (sql) => connection.write('set', (tx) => tx.run(sql)),
    });
  });

const ENGINES = [
  { engine: 'SQLite', withViews: onSqlite, manyHosts: false },
  { engine: 'PostgreSQL', withViews: onPostgres, manyHosts: true },
];

async function addSomeJobs(store: Store): Promise<void> {
  const at = NOW + 123;
  await store.settle(ending(await startJob(store, 'dead', { maxRetries: 1 }), failedWith(137), at));
  await store.settle(
    ending(await startJob(store, 'done', { argv: ['a', 'b'], env: { K: 'v' } }), succeeded, at),
  );
  await store.settle(
    ending(await startJob(store, 'failed', { backoffBase: 1.5, tags: { x: 'y' } }), failedWith(1), at),
  );
  await startJob(store, 'runs', { timeoutMs: 5000, priority: 7, queue: 'mail' });
  const rest = { stdin: 'a\u{1f600}\n', splitOutput: true, secretEnv: ['TOKEN'], cleanEnv: true };
  const policy = { backoff: 'linear', retryDelayMs: 0, backoffMaxMs: 1500, jitter: 0.5 } as const;
  await store.insert([jobSpec('later', { runAt: NOW + 987_654, policy, ...rest })], at);
}

describe.each(ENGINES)('views in $engine', ({ withViews, manyHosts }) => {
  test('jobs has every documented column', () =>
    withViews(async (store, views) => {
      const [job] = await store.insert([jobSpec('a')], NOW);
      // The pid of a job and the reason why it waits depend on living processes, so no view can have them.
      const { waiting_for: _, pid: __, ...documented } = toJobObject({ ...job!, waitingFor: null });
      expect((await views.columns('jobs')).sort()).toEqual(Object.keys(documented).sort());
    }));

  test('jobs shows each job with the values that are printed as JSON', () =>
    withViews(async (store, views) => {
      await addSomeJobs(store);
      const rows = await views.all('SELECT * FROM jobs');
      expect(rows).toHaveLength(5);
      for (const row of rows) {
        const { pid: _, ...job } = toJobObject({ ...(await store.get(String(row.id)))!, waitingFor: null });
        job.stdin = await store.stdin(job.id);
        // Truth values are 1 and 0.
        expect({
          ...job,
          at_most_once: Number(job.at_most_once),
          split_output: Number(job.split_output),
          clean_env: Number(job.clean_env),
        }).toMatchObject(row);
      }
    }));

  test('dlq_jobs shows the dead jobs with the same columns', () =>
    withViews(async (store, views) => {
      await addSomeJobs(store);
      expect(await views.all('SELECT * FROM dlq_jobs')).toEqual(
        await views.all("SELECT * FROM jobs WHERE id = 'dead'"),
      );
      expect(await views.columns('dlq_jobs')).toEqual(await views.columns('jobs'));
    }));

  test('jobs shows times to the millisecond', () =>
    withViews(async (store, views) => {
      const random = seededRandom('times');
      const times = Array.from({ length: 500 }, () => below(random, Date.UTC(2100, 0)));
      await store.insert(
        times.map((runAt, i) => jobSpec(String(i), { runAt })),
        NOW,
      );
      const rows = await views.all('SELECT run_at FROM jobs ORDER BY CAST(id AS INTEGER)');
      expect(rows.map((row) => row.run_at)).toEqual(times.map((time) => toIso(time)));
    }));

  test('workers has every documented column', () =>
    withViews(async (_, views) => {
      const documented = [
        'id',
        'pid',
        'hostname',
        'started_at',
        'last_heartbeat',
        'status',
        'queues',
        'current_jobs',
      ];
      expect(await views.columns('workers')).toEqual(documented);
    }));

  test('workers shows each worker with its queues and times', () =>
    withViews(async (store, views) => {
      await store.register(newWorker('w1', { pid: 77 }));
      await store.register(newWorker('w2', { queues: ['mail'] }));
      await store.beat('w2', true, LEASE_MS, NOW + 5);
      const rows = await views.all('SELECT * FROM workers ORDER BY id');
      const started = toIso(NOW);
      expect(rows[0]).toMatchObject({
        id: 'w1',
        pid: 77,
        hostname: 'machine',
        queues: ['*'],
        started_at: started,
      });
      expect(rows[1]).toMatchObject({ queues: ['mail'], last_heartbeat: toIso(NOW + 5), status: 'draining' });
    }));

  test('workers shows idle, busy or draining as the status', () =>
    withViews(async (store, views) => {
      for (const id of ['w1', 'w2', 'w3']) await store.register(newWorker(id));
      await startJob(store, 'a');
      await store.order(['w3'], 'drain');
      const status = (await views.all('SELECT status FROM workers ORDER BY id')).map((row) => row.status);
      expect(status).toEqual(['busy', 'idle', 'draining']);
    }));

  test('config shows every setting with its value and default, and when it was set', () =>
    withViews(async (store, views) => {
      const before = Date.now();
      await store.set('lease', '31s', () => {});
      await store.set('on-idle', "echo 'idle'", () => {});
      expect(await views.columns('config')).toEqual(['key', 'value', 'default_value', 'updated_at']);
      const rows = await views.all('SELECT * FROM config ORDER BY key');
      const settings = SETTINGS as unknown as Record<string, Setting<unknown>>;
      expect(rows.map(({ key, default_value }) => [key, default_value])).toEqual(
        [...SETTING_KEYS].sort().map((key) => {
          const setting = settings[key]!;
          return [key, setting.format(defaultOf(setting, manyHosts))];
        }),
      );
      const stored = rows.filter((row) => row.updated_at !== null);
      expect(stored.map(({ key, value }) => [key, value])).toEqual([
        ['lease', '31s'],
        ['on-idle', "echo 'idle'"],
      ]);
      for (const row of rows) if (!stored.includes(row)) expect(row.value).toBe(row.default_value);
      for (const { updated_at } of stored)
        expect(Math.abs(Date.parse(String(updated_at)) - before)).toBeLessThan(60_000);
      await store.set('lease', null, () => {});
      expect(await views.all("SELECT value, updated_at FROM config WHERE key = 'lease'")).toEqual([
        { value: manyHosts ? '2m' : '30s', updated_at: null },
      ]);
    }));

  test('schedules shows each schedule with the values that are printed as JSON, except next_runs, job and text', () =>
    withViews(async (store, views) => {
      const cron = { kind: 'cron', cron: '30 2 * * *', zone: 'Europe/Berlin' } as const;
      const every = { kind: 'every', everyMs: 90_000, anchorAt: NOW } as const;
      const when = { overlap: 'skip', catchUp: 'one' } as const;
      await store.addSchedule({ name: 'a', timing: cron, ...when, job: { command: 'true' } }, NOW + 123, NOW);
      const job = { argv: ['echo', 'a'], command: 'echo a', queue: 'mail' };
      await store.addSchedule({ name: 'b', timing: every, ...when, job }, NOW + 90_000, NOW);
      await store.fireNow('a', jobSpec('tick'), NOW + 7);
      await store.pauseSchedule('b', { at: NOW + 9, by: 'me' }, null);
      const rows = await views.all('SELECT * FROM schedules ORDER BY name');
      const shown = await Promise.all((await store.schedules()).map((one) => toScheduleObject(one, NOW)));
      for (const [i, { next_runs: _, job: __, text: ___, ...object }] of shown.entries())
        expect(rows[i]).toEqual({ ...object, paused: Number(object.paused) });
    }));

  test.each(['jobs', 'dlq_jobs', 'workers', 'config', 'schedules'])('%s cannot be written', (view) =>
    withViews(async (_, views) => {
      await expect(views.run(`DELETE FROM ${view}`)).rejects.toThrow(/cannot (modify|delete)/);
      const [column] = await views.columns(view);
      await expect(views.run(`UPDATE ${view} SET ${column} = 'x'`)).rejects.toThrow(/cannot (modify|update)/);
    }),
  );
});
