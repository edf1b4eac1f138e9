import { describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SCHEMA_VERSION } from '../../src/store/schema/version.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { openDatabase } from '../support/database.ts';
import { inTempDir } from '../support/temp-dir.ts';

const CHILD = join(import.meta.dirname, '../support/store-child.ts');

describe('files', () => {
  for (const umask of ['000', '077', '022']) {
    test(`created under umask ${umask} are accessible only to their owner`, () =>
      inTempDir((dir) => {
        const command = ['-c', 'umask "$1"; shift; exec "$@"', 'sh', umask, process.execPath, CHILD, 'modes'];
        const child = spawnSync('sh', [...command, join(dir, 'new/queue.db')], { encoding: 'utf8' });
        expect(child.stderr).toBe('');
        expect(JSON.parse(child.stdout)).toEqual({
          new: '700',
          'new/queue.db': '600',
          'new/queue.db-shm': '600',
          'new/queue.db-wal': '600',
          'new/queue.db.d': '700',
          'new/queue.db.d/attempts': '700',
          'new/queue.db.d/ballast': '600',
        });
      }));
  }

  test('of the state directory are beside the real path of the database, not beside a link', () =>
    inTempDir(async (dir) => {
      const first = await openSqlite(join(dir, 'real.db'));
      expect(first).toMatchObject({ created: true, stateDirectory: { path: join(dir, 'real.db.d') } });
      symlinkSync(join(dir, 'real.db'), join(dir, 'link.db'));
      const second = await openSqlite(join(dir, 'link.db'));
      expect(second).toMatchObject({ created: false, stateDirectory: { path: join(dir, 'real.db.d') } });
      expect(second.store.epoch).toBe(first.store.epoch);
      await first.store.close();
      await second.store.close();
      expect(readdirSync(dir).sort()).toEqual(['link.db', 'real.db', 'real.db.d']);
    }));

  test('that were removed or replaced are reported by check()', () =>
    inTempDir(async (dir) => {
      const path = join(dir, 'queue.db');
      const { store } = await openSqlite(path);
      await store.check();
      rmSync(path);
      await expect(store.check()).rejects.toThrow('removed or replaced');
      writeFileSync(path, '');
      await expect(store.check()).rejects.toThrow('removed or replaced');
      await store.close();
    }));

  test('that are empty become a store', () =>
    inTempDir(async (dir) => {
      writeFileSync(join(dir, 'queue.db'), '');
      const { store } = await openSqlite(join(dir, 'queue.db'));
      expect(await store.counts()).toEqual([]);
      await store.close();
    }));
});

/** Returns every file below the directory with its bytes, to show that nothing was written. No file may be open. */
function allFiles(dir: string): Record<string, string> {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path, entry.isFile() ? readFileSync(path).toString('base64') : 'directory'];
    }),
  );
}

function runSql(path: string, sql: string): void {
  const db = openDatabase(path);
  db.exec(sql);
  db.close();
}

async function makeNewer(path: string): Promise<void> {
  await (await openSqlite(path)).store.close();
  runSql(path, `PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
  rmSync(`${path}.d`, { recursive: true });
}

const OTHER_PROGRAM_SQL = 'CREATE TABLE address (name TEXT); INSERT INTO address VALUES (1)';

const REFUSED: [what: string, code: string, make: (path: string) => unknown][] = [
  ['a newer schema', 'newer-schema', makeNewer],
  ['the database of another program', 'not-a-database', (path) => runSql(path, OTHER_PROGRAM_SQL)],
  [
    'the WAL database of another program',
    'not-a-database',
    (path) => runSql(path, `PRAGMA journal_mode = WAL; ${OTHER_PROGRAM_SQL}`),
  ],
  [
    'the database of another program with versions like ours',
    'not-a-database',
    (path) =>
      runSql(
        path,
        `PRAGMA user_version = ${SCHEMA_VERSION}; PRAGMA application_id = 1; ${OTHER_PROGRAM_SQL}`,
      ),
  ],
  ['a short text file', 'not-a-database', (path) => writeFileSync(path, 'hello\n')],
  ['a long text file', 'not-a-database', (path) => writeFileSync(path, 'A line of text.\n'.repeat(1000))],
  ['a directory', 'store-unavailable', (path) => mkdirSync(path)],
];

describe('refusal', () => {
  for (const [what, code, make] of REFUSED) {
    test(`of ${what} leaves it unchanged`, () =>
      inTempDir(async (dir) => {
        const path = join(dir, 'queue.db');
        await make(path);
        const before = allFiles(dir);
        await expect(openSqlite(path)).rejects.toMatchObject({ name: 'QueueError', code });
        expect(allFiles(dir)).toEqual(before);
      }));
  }

  test('also covers a path whose parent is a file', () =>
    inTempDir(async (dir) => {
      writeFileSync(join(dir, 'file'), '');
      for (const path of ['file/queue.db', 'file/deeper/queue.db']) {
        await expect(openSqlite(join(dir, path))).rejects.toMatchObject({ code: 'store-unavailable' });
      }
    }));

  test('also covers a broken link', () =>
    inTempDir(async (dir) => {
      symlinkSync(join(dir, 'gone/queue.db'), join(dir, 'link.db'));
      await expect(openSqlite(join(dir, 'link.db'))).rejects.toMatchObject({ name: 'QueueError' });
    }));

  test('of a newer schema names the file and both versions', () =>
    inTempDir(async (dir) => {
      const path = join(dir, 'queue.db');
      await makeNewer(path);
      const message = `${path} has schema version ${SCHEMA_VERSION + 1}; this version of queuectl supports versions up to ${SCHEMA_VERSION}`;
      await expect(openSqlite(path)).rejects.toThrow(message);
    }));
});
