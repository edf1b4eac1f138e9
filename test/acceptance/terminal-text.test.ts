import { expect, test } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { inSandbox } from '../support/queuectl.ts';
import { onTerminal } from '../support/terminal.ts';

const ESCAPE = '\x1b[2J';
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]/;

test(
  'S13: no path in notes, warnings, questions or results controls the terminal',
  inSandbox(async (box) => {
    const odd = join(box.directory, `x${ESCAPE}\u202e`);
    const db = `${odd}.db`;
    const shown: string[] = [];
    const runOnTerminal = async (args: string[]): Promise<void> => {
      const terminal = onTerminal(box, args, 40, 200);
      await terminal.closed;
      shown.push(terminal.output());
    };
    await runOnTerminal(['--db', db, 'enqueue', 'true']);
    await runOnTerminal(['--db', db, 'status']);
    await runOnTerminal(['--db', db, 'backup', `${odd}.backup`]);
    await runOnTerminal(['--db', db, 'export', `${odd}.jsonl`]);
    await runOnTerminal(['--db', db, 'db', 'repair']);
    await runOnTerminal(['--db', db, 'config', 'set', 'on-dead', `echo ${ESCAPE}`]);
    await runOnTerminal(['--db', db, 'config', 'get', 'on-dead']);
    await runOnTerminal(['--db', db, 'restore', '--yes', `${odd}.backup`]);
    mkdirSync(`${odd}.folder`);
    await runOnTerminal(['--db', `${odd}.folder`, 'status', '--json']);
    expect(shown[0]).toContain('created ');
    for (const text of shown) {
      expect(text.length).toBeGreaterThan(3);
      expect(text).not.toMatch(CONTROL);
    }
    expect(shown.join('')).toContain('\\x1b[2J\\u{202e}');
  }),
);

test(
  'S14: JSON on a terminal is the same JSON with escapes, and in a pipe it is unchanged',
  inSandbox(async (box) => {
    const command = 'echo \u202e\u009b31m\u2028\u{e0041}';
    await box.run(['enqueue', '--file', '-'], { stdin: JSON.stringify({ id: 'job', command }) });
    const terminal = onTerminal(box, ['list', '--json'], 40, 2000);
    await terminal.closed;
    expect(terminal.output()).not.toMatch(CONTROL);
    expect(JSON.parse(terminal.output())).toMatchObject([{ id: 'job', command }]);
    expect((await box.run(['list', '--json'])).stdout).toContain(command);
  }),
);
