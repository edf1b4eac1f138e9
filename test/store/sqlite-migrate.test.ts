import { describe, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS, type SchemaMigration } from '../../src/store/schema/migrations.ts';
import { FIRST_VERSION, SCHEMA_VERSION } from '../../src/store/schema/version.ts';
import { type Connection, connect } from '../../src/store/sqlite/connection.ts';
import { migrate } from '../../src/store/sqlite/migrate.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { APPLICATION_ID } from '../../src/store/sqlite/schema-version.ts';
import { claimRequest, jobSpec, NOW } from '../support/jobs.ts';
import { withSqlite } from '../support/sqlite.ts';
import { makeSqliteStoreOf020 } from '../support/store-of-020.ts';
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

  const madeUp = (sql: string): SchemaMigration => ({ sql, keepsPrograms: true });
  const ADD_COLUMN = madeUp("ALTER TABLE job ADD COLUMN made_up TEXT DEFAULT 'new'");
  // The views are not in the way of a change of what they show.
  const CHANGE_ROWS = madeUp(`UPDATE job SET made_up = made_up || ' ' || id;
    ALTER TABLE job RENAME COLUMN cwd TO directory; ALTER TABLE job RENAME COLUMN directory TO cwd`);

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
      await expect(migrate(connection, [...MIGRATIONS, ADD_COLUMN, madeUp('nonsense')])).rejects.toThrow(
        /syntax error/,
      );
      expect(connection.pragma('user_version')).toBe(SCHEMA_VERSION);
      expect(connection.all('SELECT name, sql FROM sqlite_schema')).toEqual(before);
    }));

  const refused = {
    code: 'older-schema',
    hint: expect.stringMatching(/queuectl export.*queuectl import/),
  };

  for (const version of [1, FIRST_VERSION - 1])
    test(`refuses schema version ${version}, at which no migration starts`, () =>
      withSqlite(async (_, connection) => {
        connection.exec(`PRAGMA user_version = ${version}`);
        await expect(migrate(connection)).rejects.toMatchObject(refused);
        await expect(openSqlite(connection.path)).rejects.toMatchObject(refused);
        expect(connection.pragma('user_version')).toBe(version);
      }));

  test('refuses a store of queuectl 0.2.0 and does not change its file', () =>
    inTempDir(async (dir) => {
      const path = join(dir, 'queue.db');
      makeSqliteStoreOf020(path);
      const before = readFileSync(path);
      for (const access of ['read', 'write', 'work', 'any-version'] as const)
        await expect(openSqlite(path, { access })).rejects.toMatchObject(refused);
      expect(readFileSync(path).equals(before)).toBe(true);
      expect(readdirSync(dir)).toEqual(['queue.db']);
    }));

  for (let read = 1; read <= 2; read++) {
    test(`tolerates another connection that migrates the file after read ${read} of 2`, () =>
      inTempDir(async (dir) => {
        const connection = await connect(join(dir, 'queue.db'));
        const rival = await connect(join(dir, 'queue.db'));
        let rivalMigration: Promise<void> | null = null;
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
