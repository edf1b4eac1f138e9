import { expect } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expectRefusal } from '../support/refusal.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const COMMANDS_THAT_ADD_NOTHING = [
  ...[['status'], ['list'], ['dlq', 'list'], ['queue', 'list'], ['schedule', 'list'], ['worker', 'list']],
  ...[
    ['stats'],
    ['stats', '--range', '1h'],
    ['metrics'],
    ['events'],
    ['config', 'list'],
    ['config', 'get', 'lease'],
    ['config', 'unset', 'lease'],
  ],
  ...[
    ['top', '--once'],
    ['list', '--json'],
    ['status', '--json'],
    ['prune', '--dry-run'],
  ],
  ...[
    ['cancel', '--state', 'pending', '--yes'],
    ['dlq', 'retry', '--all'],
    ['__complete', 'show', ''],
    ['worker', 'stop'],
    ['worker', 'stop', '--force'],
    ['export'],
  ],
];

const IN_MEMORY_URLS = [
  ...[
    ':memory:',
    ':MEMORY:',
    'sqlite::memory:',
    'SQLite::memory:',
    'sqlite://:memory:',
    'sqlite:///:memory:',
  ],
  ...['file::memory:', 'file::memory:?cache=shared', ':memory:?cache=shared'],
];

test('without a store, commands that add nothing exit with 0 and create no store', async (box) => {
  const db = join(box.home, 'new', 'queue.db');
  for (const command of COMMANDS_THAT_ADD_NOTHING) {
    const result = await box.run(command, { env: { QUEUECTL_DB: db } });
    expect({ command, ...result }).toMatchObject({ command, code: 0 });
    expect(result.stderr).toBe(
      command.includes('--json') || command[0] === '__complete'
        ? ''
        : `note: there is no queue at ${db} yet\n`,
    );
  }
  expect(existsSync(box.home)).toBe(false);
  expect((await box.run(['list', '--json'])).stdout).toBe('[]\n');

  mkdirSync(box.home, { mode: 0o700 });
  for (const command of COMMANDS_THAT_ADD_NOTHING) expect((await box.run(command)).code).toBe(0);
  expect(readdirSync(box.home)).toEqual([]);
});

test('without a store, worker stop says that nothing runs, and an export is empty and can be imported', async (box) => {
  expect((await box.run(['worker', 'stop'])).stdout).toBe('no workers were running\n');
  expectRefusal(await box.run(['worker', 'stop', 'x']), 3, /there is no worker 'x'/);
  const file = join(box.directory, 'empty.jsonl');
  expect(await box.run(['export', file])).toMatchObject({ code: 0 });
  expect(existsSync(box.home)).toBe(false);
  const exported = await box.run(['export', '-']);
  const lines = exported.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect([lines[0].queuectl, lines.at(-1).end.jobs]).toEqual(['export', 0]);
  expect(await box.run(['import', file])).toMatchObject({ code: 0 });
});

test('without a store, commands report that their job or queue does not exist, and create nothing', async (box) => {
  for (const command of [
    ['show', 'x'],
    ['cancel', 'x'],
    ['logs', 'x'],
    ['explain', 'x'],
    ['retry', 'x'],
  ])
    expectRefusal(await box.run(command), 3, /there is no job 'x'/);
  for (const command of ['pause', 'resume', 'delete'])
    expectRefusal(await box.run(['queue', command, 'mail']), 3, /there is no queue 'mail'/);
  expect(existsSync(box.home)).toBe(false);
});

test('commands that add something create the store', async (box) => {
  const commands = [
    ['enqueue', 'true'],
    ['queue', 'set', 'mail', '--concurrency', '1'],
    ['config', 'set', 'lease', '20s'],
  ];
  for (const [i, command] of commands.entries()) {
    const env = { QUEUECTL_DB: join(box.home, String(i), 'queue.db') };
    expect(await box.run(command, { env })).toMatchObject({ code: 0 });
    expect(readdirSync(join(box.home, String(i)))).toContain('queue.db');
  }
});

test('a --db whose directory does not exist is refused', async (box) => {
  const missing = join(box.home, 'mistyped', 'queue.db');
  for (const command of [['list'], ['enqueue', 'true'], ['worker', 'start'], ['serve', '--port', '0']])
    expectRefusal(await box.run(['--db', missing, ...command]), 5, /there is no directory .*mistyped/);
  expect(existsSync(box.home)).toBe(false);
});

test('unusable database URLs are refused without printing the password, and file: and sqlite: URLs work', async (box) => {
  for (const url of [
    'mysql://me:hush@h/d',
    'redis://',
    'foo:x',
    'file://host/x.db',
    'sqlite:',
    ...IN_MEMORY_URLS,
  ])
    for (const command of [['enqueue', 'true'], ['list']]) {
      const refused = await box.run(['--db', url, ...command]);
      expectRefusal(refused, 5, /database/);
      expect(refused.stderr).not.toContain('hush');
    }
  expect(existsSync(box.home)).toBe(false);
  mkdirSync(box.home, { mode: 0o700 });
  for (const url of [`file://${box.home}/a.db`, `sqlite:${box.home}/a.db`, `sqlite:///${box.home}/a.db`])
    expect(await box.run(['--db', url, 'enqueue', 'true'])).toMatchObject({ code: 0 });
  expect((await box.run(['--db', join(box.home, 'a.db'), 'list', '-q'])).stdout.split('\n')).toHaveLength(4);
});

test('no command creates a database beside the -wal of one that was moved away', async (box) => {
  await box.run(['enqueue', '--id', 'first', 'true']);
  // The process is killed before its checkpoint, so that the job is only in the -wal.
  await box.run(['enqueue', '--id', 'second', 'true'], { env: { QUEUECTL_CRASH_AT: 'after-insert' } });
  const db = join(box.home, 'queue.db');
  expect(statSync(`${db}-wal`).size).toBeGreaterThan(0);
  renameSync(db, join(box.home, 'old.db'));
  for (const command of [
    ['enqueue', 'true'],
    ['worker', 'start'],
    ['config', 'set', 'lease', '1m'],
  ])
    expectRefusal(await box.run(command), 5, /queue\.db is missing, although .*-wal holds changes/);
  expect(existsSync(db)).toBe(false);
  renameSync(join(box.home, 'old.db'), db);
  expect(await box.json(['list', '--json=id'])).toHaveLength(2);
});
