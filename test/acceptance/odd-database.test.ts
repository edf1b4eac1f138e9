import { expect } from 'bun:test';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { concurrentTest as test } from '../support/sandbox-test.ts';

/** An unusable database, a function that creates it, and the message about it. */
const UNUSABLE_DATABASES: [what: string, makeUnusable: (db: string) => void, says: RegExp][] = [
  ['an empty database with a state directory', (db) => truncateSync(db), /is damaged: the file is truncated/],
  [
    'an empty database without a state directory',
    (db) => {
      rmSync(`${db}.d`, { recursive: true });
      truncateSync(db);
    },
    /is empty, not a queuectl database/,
  ],
  [
    'a missing database with a state directory',
    (db) => rmSync(db),
    /is missing, although .*queue\.db\.d exists/,
  ],
  [
    'a pipe in place of the database',
    (db) => {
      rmSync(db);
      execFileSync('mkfifo', ['-m', '600', db]);
    },
    /is a pipe, not a database file/,
  ],
  [
    'a directory in place of the database',
    (db) => {
      rmSync(db);
      mkdirSync(db, { mode: 0o700 });
    },
    /is a directory, not a database file/,
  ],
];

for (const [what, makeUnusable, says] of UNUSABLE_DATABASES) {
  test(`doctor, db check and db repair report ${what}, suggest a fix, and create or remove no files`, async (box) => {
    await box.run(['enqueue', 'true']);
    const backup = join(box.directory, 'backup.db');
    await box.run(['backup', backup]);
    const db = join(box.home, 'queue.db');
    makeUnusable(db);
    const namesBefore = readdirSync(box.home, { recursive: true });

    const { code, stdout } = await box.run(['doctor', '--json']);
    expect(code).toBe(1);
    const failed = JSON.parse(stdout).checks.filter((one: { status: string }) => one.status === 'fail');
    expect(failed).toEqual([
      expect.objectContaining({ says: expect.stringMatching(says), fix: expect.any(String) }),
    ]);

    const check = await box.run(['db', 'check']);
    expect(check.code).not.toBe(0);
    expect(check.stdout + check.stderr).toMatch(says);
    expect(check.stderr).toMatch(/^(error: .*\n)? {2}.*\n$/);

    const repair = await box.run(['db', 'repair']);
    expect(repair).toMatchObject({ code: 5, stdout: '' });
    expect(repair.stderr).toMatch(/^error: .*\n {2}.*\n$/);
    expect(repair.stderr).toMatch(what.startsWith('an empty') ? /no job could be recovered/ : says);
    expect(readdirSync(box.home, { recursive: true })).toEqual(namesBefore);

    // A restore replaces empty and missing files, but no pipe and no directory.
    const restore = await box.run(['restore', '--yes', backup]);
    expect(restore.code).toBe(/pipe|directory,/.test(says.source) ? 5 : 0);
    if (restore.code !== 0) expect(restore.stderr).toMatch(says);
    expect((await box.run(['list', '-q'])).code).toBe(restore.code);
  });
}

test('restore refuses a backup that is empty, a pipe or a directory, and keeps the jobs', async (box) => {
  await box.run(['enqueue', '--id', 'there', 'true']);
  const file = (name: string): string => join(box.directory, name);
  writeFileSync(file('empty'), '');
  execFileSync('mkfifo', [file('pipe')]);
  mkdirSync(file('directory'));
  for (const [name, says] of [
    ['empty', /is empty, not a queuectl database/],
    ['pipe', /is a pipe/],
    ['directory', /is a directory/],
  ] as const) {
    const result = await box.run(['restore', '--yes', file(name)]);
    expect({ name, code: result.code }).toEqual({ name, code: 5 });
    expect(result.stderr).toMatch(says);
  }
  expect((await box.run(['list', '-q'])).stdout).toBe('there\n');
});
