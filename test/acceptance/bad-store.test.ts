import { expect } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openDatabase } from '../support/database.ts';
import type { Sandbox } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const READING_COMMANDS = [['status'], ['list']];
const WRITING_COMMANDS = [
  ['enqueue', 'true'],
  ['config', 'set', 'max-retries', '4'],
  ['worker', 'start'],
];
const COMMANDS = [...READING_COMMANDS, ...WRITING_COMMANDS];

/** Expects that every command is refused with the same message and that no file is created or removed. */
async function expectAllRefused(box: Sandbox, db: string, code: number, message: RegExp): Promise<void> {
  const fileNames = (): string[] => readdirSync(box.directory, { recursive: true, encoding: 'utf8' }).sort();
  const namesBefore = fileNames();
  for (const command of COMMANDS) expectRefusal(await box.run([...command, '--db', db]), code, message);
  expect(fileNames()).toEqual(namesBefore);
}

test('a directory as the database is refused', async (box) => {
  mkdirSync(join(box.directory, 'folder'));
  await expectAllRefused(box, 'folder', 5, /folder is a directory/);
});

test('a database in memory is refused, and no file of that name is created', async (box) => {
  await expectAllRefused(box, ':memory:', 5, /':memory:' cannot be used/);
});

test('a file that is not a database is left unchanged, and nothing is created beside it', async (box) => {
  const files = {
    text: 'dear diary\n'.repeat(1000),
    short: 'hello\n',
    zeros: '\0'.repeat(8192),
    almost: 'SQLite format 3\0oops',
  };
  for (const [name, content] of Object.entries(files)) {
    const path = join(box.directory, name);
    writeFileSync(path, content);
    await expectAllRefused(box, name, 5, new RegExp(`${name}.* is not a queuectl database`));
    expect(readFileSync(path, 'latin1')).toBe(content);
    expect(existsSync(`${path}.d`)).toBe(false);
  }
});

test('the database of another program is left unchanged', async (box) => {
  const path = join(box.directory, 'theirs.db');
  const db = openDatabase(path);
  db.exec('CREATE TABLE jobs (id TEXT); INSERT INTO jobs VALUES (1)');
  db.close();
  const contentBefore = readFileSync(path);
  await expectAllRefused(box, path, 5, /another program|not a queuectl/);
  expect(readFileSync(path)).toEqual(contentBefore);
});

test('a database with a newer schema is refused and left unchanged', async (box) => {
  await box.run(['enqueue', '--db', 'queue.db', 'true']);
  const path = join(box.directory, 'queue.db');
  const db = openDatabase(path);
  db.exec('PRAGMA user_version = 1000000');
  db.close();
  const contentBefore = readFileSync(path);
  for (const command of COMMANDS)
    expectRefusal(await box.run([...command, '--db', path]), 5, /^error: .*schema version 1000000/);
  expect(readFileSync(path)).toEqual(contentBefore);
});

test('a database path below a regular file or with too long a name is refused', async (box) => {
  writeFileSync(join(box.directory, 'file'), '');
  await expectAllRefused(box, 'file/queue.db', 5, /^error: /);
  await expectAllRefused(box, 'x'.repeat(300), 5, /^error: /);
});

test('a file of one byte is refused as a database', async (box) => {
  const path = join(box.directory, 'byte');
  writeFileSync(path, 'x');
  await expectAllRefused(box, path, 5, /is not a queuectl database/);
  expect(readFileSync(path, 'latin1')).toBe('x');
});

/** Root may write everywhere, so tests that run as root start their commands as nobody. */
const asNobody =
  process.getuid!() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
const UNPRIVILEGED = { through: asNobody, cwd: '/' };

test('no database is created in a directory without write permission', async (box) => {
  chmodSync(box.directory, 0o755);
  expect((await box.run(['version'], UNPRIVILEGED)).code).toBe(0);
  const readOnlyDirectory = join(box.directory, 'closed');
  mkdirSync(readOnlyDirectory, { mode: 0o555 });
  for (const db of [join(readOnlyDirectory, 'queue.db'), join(readOnlyDirectory, 'new', 'queue.db')]) {
    const options = { ...UNPRIVILEGED, env: { QUEUECTL_DB: db } };
    for (const command of WRITING_COMMANDS)
      expectRefusal(await box.run(command, options), 6, /permission denied/);
    for (const command of READING_COMMANDS)
      expect(await box.run(command, options)).toMatchObject({ code: 0 });
  }
  expect(readdirSync(readOnlyDirectory)).toEqual([]);
});

/** Ways to restrict the permissions of a store. */
const RESTRICTIONS: Record<string, (db: string) => void> = {
  'cannot be read': (db) => chmodSync(db, process.getuid!() === 0 ? 0o600 : 0),
  'can only be read': (db) => chmodSync(db, 0o444),
  'is in a read-only directory': (db) => chmodSync(dirname(db), 0o555),
};

for (const [what, restrict] of Object.entries(RESTRICTIONS)) {
  test(`a database that ${what} is refused`, async (box) => {
    chmodSync(box.directory, 0o755);
    mkdirSync(box.home, { mode: 0o755 });
    expect((await box.run(['enqueue', '--id', 'there', 'true'])).code).toBe(0);
    const db = join(box.home, 'queue.db');
    chmodSync(db, 0o666);
    restrict(db);
    for (const command of COMMANDS)
      expectRefusal(
        await box.run([...command, '--db', db], UNPRIVILEGED),
        6,
        /permission denied|is not writable|belongs to/,
      );
    chmodSync(box.home, 0o755);
    chmodSync(db, 0o600);
    expect((await box.json<unknown[]>(['list'])).length).toBe(1);
  });
}
