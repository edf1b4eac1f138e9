import { describe, expect, test } from 'bun:test';
import { toScheduleObject } from '../../src/actions/schedules.ts';
import { toJobObject } from '../../src/core/jobs/job-object.ts';
import { toIso } from '../../src/core/time/time.ts';
import type { Row } from '../../src/store/row.ts';
import type { Connection } from '../../src/store/sqlite/connection.ts';
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
import { below, seededRandom } from '../support/random.ts';
import { withSqlite } from '../support/sqlite.ts';

const JSON_COLUMNS = ['argv', 'env', 'tags', 'queues', 'depends_on', 'current_jobs', 'secret_env'];

/** Returns a row of a view with its JSON columns parsed. */
function parseRow(row: Row): Record<string, unknown> {
  const parse = (column: string, value: unknown) =>
    JSON_COLUMNS.includes(column) && typeof value === 'string' ? JSON.parse(value) : value;
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, parse(column, value)]));
}

function columnsOf(connection: Connection, view: string): string[] {
  return connection.all(`SELECT name FROM pragma_table_info('${view}')`).map((row) => String(row.name));
}

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

describe('views', () => {
  test('jobs has every documented column', () =>
    withSqlite(async (store, connection) => {
      const [job] = await store.insert([jobSpec('a')], NOW);
      // The pid of a job and the reason why it waits depend on living processes, so no view can have them.
      const { waiting_for: _, pid: __, ...documented } = toJobObject({ ...job!, waitingFor: null });
      expect(columnsOf(connection, 'jobs').sort()).toEqual(Object.keys(documented).sort());
    }));

  test('jobs shows each job with the values that are printed as JSON', () =>
    withSqlite(async (store, connection) => {
      await addSomeJobs(store);
      const rows = connection.all('SELECT * FROM jobs').map(parseRow);
      expect(rows).toHaveLength(5);
      for (const row of rows) {
        const { pid: _, ...job } = toJobObject({ ...(await store.get(String(row.id)))!, waitingFor: null });
        job.stdin = await store.stdin(job.id);
        // SQLite has no booleans.
        expect({
          ...job,
          at_most_once: Number(job.at_most_once),
          split_output: Number(job.split_output),
          clean_env: Number(job.clean_env),
        }).toMatchObject(row);
      }
    }));

  test('dlq_jobs shows the dead jobs with the same columns', () =>
    withSqlite(async (store, connection) => {
      await addSomeJobs(store);
      expect(connection.all('SELECT * FROM dlq_jobs')).toEqual(
        connection.all("SELECT * FROM jobs WHERE id = 'dead'"),
      );
      expect(columnsOf(connection, 'dlq_jobs')).toEqual(columnsOf(connection, 'jobs'));
    }));

  test('jobs shows times to the millisecond', () =>
    withSqlite(async (store, connection) => {
      const random = seededRandom('times');
      const times = Array.from({ length: 500 }, () => below(random, Date.UTC(2100, 0)));
      await store.insert(
        times.map((runAt, i) => jobSpec(String(i), { runAt })),
        NOW,
      );
      const rows = connection.all('SELECT run_at FROM jobs ORDER BY CAST(id AS INTEGER)');
      expect(rows.map((row) => row.run_at)).toEqual(times.map((time) => toIso(time)));
    }));

  test('workers has every documented column', () =>
    withSqlite(async (_, connection) => {
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
      expect(columnsOf(connection, 'workers')).toEqual(documented);
    }));

  test('workers shows each worker with its queues and times', () =>
    withSqlite(async (store, connection) => {
      await store.register(newWorker('w1', { pid: 77 }));
      await store.register(newWorker('w2', { queues: ['mail'] }));
      await store.beat('w2', true, LEASE_MS, NOW + 5);
      const rows = connection.all('SELECT * FROM workers ORDER BY id').map(parseRow);
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
    withSqlite(async (store, connection) => {
      for (const id of ['w1', 'w2', 'w3']) await store.register(newWorker(id));
      await startJob(store, 'a');
      await store.order(['w3'], 'drain');
      const status = connection.all('SELECT status FROM workers ORDER BY id').map((row) => row.status);
      expect(status).toEqual(['busy', 'idle', 'draining']);
    }));

  test('config shows the stored settings', () =>
    withSqlite(async (store, connection) => {
      await store.set('lease', '30s', () => {});
      expect(connection.all('SELECT * FROM config')).toEqual([{ key: 'lease', value: '30s' }]);
    }));

  test('schedules shows each schedule with the values that are printed as JSON, except next_runs, job and text', () =>
    withSqlite(async (store, connection) => {
      const cron = { kind: 'cron', cron: '30 2 * * *', zone: 'Europe/Berlin' } as const;
      const every = { kind: 'every', everyMs: 90_000, anchorAt: NOW } as const;
      const when = { overlap: 'skip', catchUp: 'one' } as const;
      await store.addSchedule({ name: 'a', timing: cron, ...when, job: { command: 'true' } }, NOW + 123, NOW);
      const job = { argv: ['echo', 'a'], command: 'echo a', queue: 'mail' };
      await store.addSchedule({ name: 'b', timing: every, ...when, job }, NOW + 90_000, NOW);
      await store.fireNow('a', jobSpec('tick'), NOW + 7);
      await store.pauseSchedule('b', { at: NOW + 9, by: 'me' }, null);
      const rows = connection.all('SELECT * FROM schedules ORDER BY name').map(parseRow);
      const shown = await Promise.all((await store.schedules()).map((one) => toScheduleObject(one, NOW)));
      for (const [i, { next_runs: _, job: __, text: ___, ...object }] of shown.entries())
        expect(rows[i]).toEqual({ ...object, paused: Number(object.paused) });
    }));

  test.each(['jobs', 'dlq_jobs', 'workers', 'config', 'schedules'])('%s cannot be written', (view) =>
    withSqlite(async (_, connection) => {
      expect(() => connection.exec(`DELETE FROM ${view}`)).toThrow(/cannot modify/);
      const column = columnsOf(connection, view)[0];
      expect(() => connection.exec(`UPDATE ${view} SET ${column} = 'x'`)).toThrow(/cannot modify/);
    }),
  );
});
