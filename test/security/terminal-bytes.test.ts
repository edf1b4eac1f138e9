/** Tests that bytes in the stored ids, names and commands cannot control the terminal. */

import { expect } from 'bun:test';
import { join } from 'node:path';
import { openDatabase } from '../support/database.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';
import { onTerminal } from '../support/terminal.ts';

const HOSTILE = '\x1b[2J\x1b]0;title\x07\x9b31m\r\u202e\x1b[31m';
/** Matches the characters that control a terminal, except line ends and tabs. */
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]|\r(?!\r?\n)/;
/** Matches the colors that queuectl itself prints. */
const OWN_COLORS = /\x1b\[(0|1|2|7|3[1-6])m/g;

const READ_COMMANDS = [
  ['list'],
  ['list', '--format', 'ids'],
  ['list', '--quiet'],
  ['list', '--format', 'tsv'],
  ['list', '--format', 'csv'],
  ['list', '--format', '{id} {queue}'],
  ['list', '--json'],
  ['dlq', 'list', '--format', 'ids'],
  ['queue', 'list'],
  ['queue', 'list', '--format', 'ids'],
  ['schedule', 'list', '--format', 'ids'],
  ['worker', 'list'],
  ['status'],
  ['stats'],
  ['metrics'],
  ['metrics', '--json'],
  ['export'],
  ['export', '--json'],
  ['events'],
  ['events', '--format', 'ids'],
  ['top', '--once'],
  ['config', 'list'],
  ['doctor'],
  ['db', 'check'],
  ['wait', '@last', '--timeout', '1ms'],
  ['show', '@last'],
  ['explain', '@last'],
  ['logs', '@last'],
];

const CHANGE_COMMANDS = [
  ['cancel', '@last'],
  ['retry', '@last'],
  ['delete', '@last'],
];

test('no command writes control bytes of stored texts to a terminal, and a pipe gets the data unchanged', async (box) => {
  await box.run(['enqueue', '--id', 'one', '--queue', 'q', '--tag', 'a=b', 'false']);
  await box.run(['schedule', 'add', 'daily', '--every', '1d', 'true']);
  for (const name of ['first', 'last']) await box.run(['enqueue', '--id', name, '--queue', 'q', 'true']);
  const db = openDatabase(join(box.home, 'queue.db'));
  const tables = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").all() as {
    name: string;
    sql: string;
  }[];
  const texts = ['one', 'first', 'last', 'q', 'daily', 'true', 'false'];
  for (const { name } of tables) {
    if (name.startsWith('sqlite_')) continue;
    const columns = db.prepare(`PRAGMA table_info("${name}")`).all() as { name: string; type: string }[];
    for (const column of columns) {
      for (const text of texts)
        db.prepare(`UPDATE OR IGNORE "${name}" SET "${column.name}" = ? WHERE "${column.name}" = ?`).run(
          `${text}${HOSTILE}`,
          text,
        );
    }
  }
  db.close();
  const shown = new Map<string, string>();
  const runOnTerminal = async (args: string[]): Promise<void> => {
    const terminal = onTerminal(box, args, 40, 400);
    await terminal.closed;
    shown.set(args.join(' '), terminal.output());
  };
  await Promise.all(READ_COMMANDS.map(runOnTerminal));
  for (const args of CHANGE_COMMANDS) await runOnTerminal(args);
  const unsafe = [...shown].filter(([, text]) => CONTROL.test(text.replace(OWN_COLORS, '')));
  expect(unsafe.map(([command]) => command)).toEqual([]);
  for (const command of ['list', 'list --format ids', 'metrics', 'export', 'queue list'])
    expect({ command, escaped: /\\x1b\[2J|\\u001b\[2J/.test(shown.get(command)!) }).toEqual({
      command,
      escaped: true,
    });
  expect((await box.run(['list', '--format', 'ids'])).stdout).toContain(HOSTILE);
  expect((await box.run(['export'])).stdout).toContain('\x9b');
});
