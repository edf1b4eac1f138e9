/** A title that starts with S and a number covers the attack of that number in attack-coverage.test.ts. */

import { expect } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxTest as test } from '../support/sandbox-test.ts';
import { onTerminal } from '../support/terminal.ts';

const CLEAR_SCREEN = '\x1b[2J';
const CONTROL_CHARACTERS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]/;

test('S13: on a terminal, control characters in paths and settings are escaped', async (box) => {
  const oddPath = join(box.directory, `x${CLEAR_SCREEN}\u202e`);
  const db = `${oddPath}.db`;
  const outputs: string[] = [];
  const runOnTerminal = async (args: string[]): Promise<void> => {
    const terminal = onTerminal(box, args, 40, 200);
    await terminal.closed;
    outputs.push(terminal.output());
  };
  await runOnTerminal(['--db', db, 'enqueue', 'true']);
  await runOnTerminal(['--db', db, 'status']);
  await runOnTerminal(['--db', db, 'backup', `${oddPath}.backup`]);
  await runOnTerminal(['--db', db, 'export', `${oddPath}.jsonl`]);
  await runOnTerminal(['--db', db, 'db', 'repair']);
  await runOnTerminal(['--db', db, 'config', 'set', 'on-dead', `echo ${CLEAR_SCREEN}`]);
  await runOnTerminal(['--db', db, 'config', 'get', 'on-dead']);
  await runOnTerminal(['--db', db, 'restore', '--yes', `${oddPath}.backup`]);
  mkdirSync(`${oddPath}.folder`);
  await runOnTerminal(['--db', `${oddPath}.folder`, 'status', '--json']);
  expect(outputs[0]).toContain('created ');
  for (const text of outputs) {
    expect(text.length).toBeGreaterThan(3);
    expect(text).not.toMatch(CONTROL_CHARACTERS);
  }
  expect(outputs.join('')).toContain('\\x1b[2J\\u{202e}');
});

test('S14: JSON has escapes for control characters on a terminal, and is unchanged in a pipe', async (box) => {
  const command = 'echo \u202e\u009b31m\u2028\u{e0041}';
  await box.run(['enqueue', '--file', '-'], { stdin: JSON.stringify({ id: 'job', command }) });
  const terminal = onTerminal(box, ['list', '--json'], 40, 2000);
  await terminal.closed;
  expect(terminal.output()).not.toMatch(CONTROL_CHARACTERS);
  expect(JSON.parse(terminal.output())).toMatchObject([{ id: 'job', command }]);
  expect((await box.run(['list', '--json'])).stdout).toContain(command);
});
