import { describe, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Connection, connect } from '../../src/store/sqlite/connection.ts';
import { APPLICATION_ID, migrate, SCHEMA_VERSION } from '../../src/store/sqlite/migrate.ts';
import first from '../../src/store/sqlite/migrations/001-first.ts';
import control from '../../src/store/sqlite/migrations/002-control.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { jobSpec, NOW, want } from '../support/jobs.ts';
import { withSqlite } from '../support/sqlite.ts';
import { inTempDir } from '../support/temp-dir.ts';

const CHILD = join(import.meta.dirname, '../support/store-child.ts');

/** Returns a connection that calls `happen` after its `n`-th read of the file. */
function interrupted(connection: Connection, n: number, happen: () => void): Connection {
  let looks = 0;
  const after = <T>(value: T): T => {
    if (++looks === n) happen();
    return value;
  };
  return {
    ...connection,
    pragma: (name) => after(connection.pragma(name)),
    get: (sql, ...values) => after(connection.get(sql, ...values)),
    all: (sql, ...values) => after(connection.all(sql, ...values)),
  };
}

describe('migrate', () => {
  test('a store that is open while a newer queuectl migrates its file writes nothing more', () =>
    withSqlite(async (store, connection) => {
      await store.insert([jobSpec('a')], NOW);
      await store.check();
      connection.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
      const newer = { code: 'newer-schema' };
      await expect(store.insert([jobSpec('b')], NOW)).rejects.toMatchObject(newer);
      await expect(store.claim(want(), NOW)).rejects.toMatchObject(newer);
      await expect(store.check()).rejects.toMatchObject(newer);
      expect((await store.list({}, { limit: 9 })).map((job) => `${job.id} ${job.state}`)).toEqual([
        'a pending',
      ]);
      connection.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
      expect((await store.claim(want(), NOW)).jobs).toHaveLength(1);
    }));

  test('marks the file as ours, and does nothing the second time', () =>
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

  test('an old file: retention and hooks find its jobs as if they had always been there', () =>
    inTempDir(async (dir) => {
      const path = join(dir, 'queue.db');
      const old = await connect(path);
      old.exec(first + control);
      old.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 2`);
      old.exec(`INSERT INTO queue (name) VALUES ('q');
        INSERT INTO job (id, command, queue, priority, max_retries, cwd, state, phase, created_at, updated_at, finished_at)
          VALUES ('silent', 'true', 1, 0, 3, '/', 'completed', 'ended', 1, 1, 1),
            ('loud', 'true', 1, 0, 3, '/', 'completed', 'ended', 1, 1, 2);
        INSERT INTO attempt (job, ordinal, token, worker_id, started_at, wait_ms, finished_at, why, output_bytes, truncated)
          VALUES (2, 1, 1, 'w', 1, 0, 2, 'exited', 7000, 0), (2, 2, 2, 'w', 1, 0, 2, 'exited', 50000000, 1)`);
      old.close();
      const { store } = await openSqlite(path);
      const bytes = 7000 + 10 * 1024 ** 2;
      const none = { ageMs: null, count: 0, bytes: null };
      expect(await store.prunable('completed', none, 9)).toEqual({ jobs: 2, bytes });
      expect(await store.get('loud')).toMatchObject({ hooks: {}, state: 'completed' });
      expect(await store.prune('completed', none, 9)).toEqual({ jobs: 2, bytes, attempts: [1, 2] });
      expect(await store.prunable('completed', none, 9)).toEqual({ jobs: 0, bytes: 0 });
      await store.close();
    }));

  for (let look = 1; look <= 6; look++) {
    test(`tolerates a process that migrates the file after its read number ${look}`, () =>
      inTempDir(async (dir) => {
        const connection = await connect(join(dir, 'queue.db'));
        const rival = await connect(join(dir, 'queue.db'));
        let rivals: Promise<void> | null = null;
        const racing = interrupted(connection, look, () => {
          rivals = migrate(rival);
        });
        try {
          await migrate(racing);
          await rivals;
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
        expect(await store.running()).toHaveLength(50);
        await store.close();
      }),
    20_000,
  );
});
