import { describe, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Connection, connect } from '../../src/store/sqlite/connection.ts';
import { migrate } from '../../src/store/sqlite/migrate.ts';
import { MIGRATIONS } from '../../src/store/sqlite/migrations.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { APPLICATION_ID, FIRST_VERSION, SCHEMA_VERSION } from '../../src/store/sqlite/schema-version.ts';
import { INVARIANTS } from '../../src/store/sqlite/sql/care.ts';
import { claimRequest, jobSpec, NOW } from '../support/jobs.ts';
import { withSqlite } from '../support/sqlite.ts';
import { inTempDir } from '../support/temp-dir.ts';

const CHILD = join(import.meta.dirname, '../support/store-child.ts');

/** Returns a connection that calls `interrupt` after its `n`-th read of the file. */
function interruptedConnection(connection: Connection, n: number, interrupt: () => void): Connection {
  let reads = 0;
  const countRead = <T>(value: T): T => {
    if (++reads === n) interrupt();
    return value;
  };
  return {
    ...connection,
    pragma: (name) => countRead(connection.pragma(name)),
    get: (sql, ...values) => countRead(connection.get(sql, ...values)),
    all: (sql, ...values) => countRead(connection.all(sql, ...values)),
  };
}

describe('migrate', () => {
  test('an open store writes nothing more after a newer queuectl has migrated its file', () =>
    withSqlite(async (store, connection) => {
      await store.insert([jobSpec('a')], NOW);
      await store.check();
      connection.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
      const newer = { code: 'newer-schema' };
      await expect(store.insert([jobSpec('b')], NOW)).rejects.toMatchObject(newer);
      await expect(store.claim(claimRequest(), NOW)).rejects.toMatchObject(newer);
      await expect(store.check()).rejects.toMatchObject(newer);
      expect((await store.list({}, { limit: 9 })).map((job) => `${job.id} ${job.state}`)).toEqual([
        'a pending',
      ]);
      connection.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
      expect((await store.claim(claimRequest(), NOW)).jobs).toHaveLength(1);
    }));

  test('the newest schema version is that of the last migration', () => {
    expect(SCHEMA_VERSION).toBe(FIRST_VERSION + MIGRATIONS.length);
  });

  test('the workers of an older store can be listed and ordered to stop', () =>
    inTempDir(async (dir) => {
      const path = join(dir, 'queue.db');
      const connection = await connect(path);
      await migrate(connection, []);
      connection.exec(`INSERT INTO worker (id, supervisor, pid, start_time, host, boot, pid_namespace, hostname, concurrency,
        started_at, last_heartbeat) VALUES ('w1', 's', 1, '1', 'h', 'b', 'p', 'alpha', 1, 1, 1)`);
      connection.close();
      const { store } = await openSqlite(path, { access: 'any-version' });
      expect(await store.workers()).toMatchObject([{ id: 'w1', order: null }]);
      await store.order(['w1'], 'leave');
      expect(await store.workers()).toMatchObject([{ id: 'w1', order: 'leave' }]);
      expect((await store.hosts()).map(({ name }) => name)).toEqual(['alpha']);
      await store.close();
    }));

  test('sets the version and the application id, and does nothing the second time', () =>
    inTempDir(async (dir) => {
      const connection = await connect(join(dir, 'queue.db'));
      await migrate(connection);
      expect(connection.pragma('user_version')).toBe(SCHEMA_VERSION);
      expect(connection.pragma('application_id')).toBe(APPLICATION_ID);
      const epoch = connection.get('SELECT value FROM meta');
      await migrate(connection);
      expect(connection.get('SELECT value FROM meta')).toEqual(epoch!);
      connection.close();
    }));

  const ADD_COLUMN = "ALTER TABLE job ADD COLUMN made_up TEXT DEFAULT 'new'";
  const CHANGE_ROWS = "UPDATE job SET made_up = made_up || ' ' || id; DROP VIEW dlq_jobs; DROP VIEW jobs";

  test('runs the migrations that a file lacks, keeps its rows and creates the views again', () =>
    withSqlite(async (store, connection) => {
      await store.insert([jobSpec('a')], NOW);
      await migrate(connection, [...MIGRATIONS, ADD_COLUMN]);
      expect(connection.pragma('user_version')).toBe(SCHEMA_VERSION + 1);
      await migrate(connection, [...MIGRATIONS, ADD_COLUMN, CHANGE_ROWS]);
      expect(connection.pragma('user_version')).toBe(SCHEMA_VERSION + 2);
      expect(connection.get('SELECT id, made_up FROM job')).toEqual({ id: 'a', made_up: 'new a' });
      expect(connection.get('SELECT id FROM jobs')).toEqual({ id: 'a' });
      await expect(migrate(connection)).rejects.toMatchObject({ code: 'newer-schema' });
    }));

  test('leaves the file as it was if a migration fails', () =>
    withSqlite(async (_, connection) => {
      const before = connection.all('SELECT name, sql FROM sqlite_schema');
      await expect(migrate(connection, [...MIGRATIONS, ADD_COLUMN, 'nonsense'])).rejects.toThrow(
        /syntax error/,
      );
      expect(connection.pragma('user_version')).toBe(SCHEMA_VERSION);
      expect(connection.all('SELECT name, sql FROM sqlite_schema')).toEqual(before);
    }));

  /** Inserts a job into a store of version 24. */
  const insertLabelled = (connection: Connection, id: string, runsOn: string | null, more: string): void => {
    const columns = 'id, queue, runs_on, priority, max_retries, created_at, updated_at, cwd, command';
    connection.exec(`INSERT INTO job (${columns}, state, phase, due_at, finished_at, worker_id, bytes)
      VALUES ('${id}', 1, ${runsOn === null ? 'NULL' : `'${runsOn}'`}, 0, 3, 1, 1, '/', 'true', ${more})`);
  };

  test('jobs and schedules with a label move to the queue of that name, and aging ends', () =>
    inTempDir(async (dir) => {
      const path = join(dir, 'queue.db');
      const connection = await connect(path);
      await migrate(connection, MIGRATIONS.slice(0, 2));
      connection.exec("INSERT INTO queue (name, aging_ms) VALUES ('default', 60000), ('gpu', NULL)");
      insertLabelled(connection, 'plain', null, "'pending', 'ready', 1, NULL, NULL, 0");
      insertLabelled(connection, 'ready', 'gpu', "'pending', 'ready', 1, NULL, NULL, 7");
      insertLabelled(connection, 'later', 'host:a', `'pending', 'waiting', ${NOW + 1000}, NULL, NULL, 0`);
      insertLabelled(connection, 'dead', 'gpu', "'dead', 'ended', NULL, 2, NULL, 0");
      insertLabelled(connection, 'done', 'gpu', "'completed', 'ended', NULL, 2, NULL, 0");
      connection.exec(
        'INSERT INTO counter SELECT queue, state, count(*), sum(bytes) FROM job GROUP BY queue, state',
      );
      connection.exec("UPDATE queue SET (ready_priority, ready_job) = (0, 1) WHERE name = 'default'");
      const insertSchedule =
        'INSERT INTO schedule (name, every_ms, anchor_at, overlap, catch_up, created_at, job)';
      connection.exec(`${insertSchedule} VALUES ('ticks', 1000, 1, 'skip', 'none', 1, '{"command":"true","runsOn":"tpu"}'),
        ('other', 1000, 1, 'skip', 'none', 1, '{"command":"true"}')`);
      connection.close();
      const { store, notes } = await openSqlite(path);
      expect(notes).toEqual([
        expect.stringContaining('(gpu, host:a, tpu)'),
        expect.stringContaining('no longer gain priority (queue default)'),
      ]);
      expect(
        Object.fromEntries((await store.list({}, { limit: 9 })).map(({ id, queue }) => [id, queue])),
      ).toEqual({
        ...{ plain: 'default', ready: 'gpu', later: 'host:a', dead: 'gpu', done: 'default' },
      });
      const schedules = await store.schedules();
      expect(schedules.map(({ name, job }) => [name, job.queue])).toEqual([
        ['other', undefined],
        ['ticks', 'tpu'],
      ]);
      const reader = await connect(path);
      for (const sql of Object.values(INVARIANTS)) expect(reader.all(sql)).toEqual([]);
      expect(
        reader.all(
          "SELECT name, sql FROM sqlite_schema WHERE sql LIKE '%runs_on%' OR sql LIKE '%labels%' OR sql LIKE '%aging%'",
        ),
      ).toEqual([]);
      reader.close();
      const claimed = await store.claim(claimRequest({ queues: ['gpu', 'host:a'], limit: 5 }), NOW + 2000);
      expect(claimed.jobs.map(({ id }) => id)).toEqual(['ready', 'later']);
      await store.close();
      expect((await openSqlite(path)).notes).toEqual([]);
    }));

  for (const version of [1, 21])
    test(`refuses schema version ${version}, from before the first release`, () =>
      withSqlite(async (_, connection) => {
        connection.exec(`PRAGMA user_version = ${version}`);
        const refused = {
          code: 'older-schema',
          hint: expect.stringMatching(/queuectl export.*queuectl import/),
        };
        await expect(migrate(connection)).rejects.toMatchObject(refused);
        await expect(openSqlite(connection.path)).rejects.toMatchObject(refused);
        expect(connection.pragma('user_version')).toBe(version);
      }));

  for (let read = 1; read <= 2; read++) {
    test(`tolerates another connection that migrates the file after read ${read} of 2`, () =>
      inTempDir(async (dir) => {
        const connection = await connect(join(dir, 'queue.db'));
        const rival = await connect(join(dir, 'queue.db'));
        let rivalMigration: Promise<string[]> | null = null;
        const racing = interruptedConnection(connection, read, () => {
          rivalMigration = migrate(rival);
        });
        try {
          await migrate(racing);
          expect(rivalMigration).not.toBeNull();
          await rivalMigration;
          expect(connection.pragma('user_version')).toBe(SCHEMA_VERSION);
          expect(connection.all('SELECT value FROM meta')).toHaveLength(1);
        } finally {
          connection.close();
          rival.close();
        }
      }));
  }
});

interface Racer {
  child: ReturnType<typeof spawn>;
  printed: { out: string; error: string };
}

function startRacer(path: string, name: string): Racer {
  const child = spawn(process.execPath, [CHILD, 'race', path, name], { stdio: ['pipe', 'pipe', 'pipe'] });
  const printed = { out: '', error: '' };
  child.stdout.on('data', (chunk) => {
    printed.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    printed.error += chunk;
  });
  return { child, printed };
}

async function finish({ child, printed }: Racer): Promise<{ created: boolean; claimed: string[] }> {
  const [code] = await once(child, 'close');
  expect({ code, error: printed.error }).toEqual({ code: 0, error: '' });
  return JSON.parse(printed.out.replace('ready\n', ''));
}

describe('ten processes', () => {
  test(
    'create one store at once, add jobs and claim them, each job once',
    () =>
      inTempDir(async (dir) => {
        const path = join(dir, 'new/queue.db');
        const racers = Array.from({ length: 10 }, (_, i) => startRacer(path, `p${i}`));
        try {
          await Promise.all(racers.map(({ child }) => once(child.stdout!, 'data')));
          const results = racers.map(finish);
          for (const { child } of racers) child.stdin!.end('go\n');
          const seen = await Promise.all(results);
          expect(seen.filter((one) => one.created)).toHaveLength(1);
          const claimed = seen.flatMap((one) => one.claimed);
          expect(claimed).toHaveLength(50);
          expect(new Set(claimed).size).toBe(50);
        } finally {
          for (const { child } of racers) if (child.exitCode === null) child.kill('SIGKILL');
        }
        const { store } = await openSqlite(path);
        expect(await store.runningJobs()).toHaveLength(50);
        await store.close();
      }),
    20_000,
  );
});
