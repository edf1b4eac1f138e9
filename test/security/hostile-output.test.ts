/** Tests that the output of a job cannot control the terminal of the person who reads it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { enqueue, sandbox, until, untilState } from '../support/queuectl.ts';
import { renderScreen } from '../support/screen.ts';
import { onTerminal } from '../support/terminal.ts';

/** Attacks on a terminal, each with the text that a reader sees instead. */
const ATTACKS: [attack: string, output: string, shown: string][] = [
  ['moving the cursor', '\x1b[10A\x1b[5;5H\x1b[s', '\\x1b[10A\\x1b[5;5H\\x1b[s'],
  ['erasing the screen', '\x1b[2J\x1b[3J\x1b[J', '\\x1b[2J\\x1b[3J\\x1b[J'],
  ['erasing in unusual forms', '\x1b[3K\x1b[?2K\x1b[1;1K', '\\x1b[3K\\x1b[?2K\\x1b[1;1K'],
  ['a title', '\x1b]0;title\x07', '\\x1b]0;title\\x07'],
  ['the clipboard (OSC 52)', '\x1b]52;c;cm0gLXJm\x07', '\\x1b]52;c;cm0gLXJm\\x07'],
  ['a link (OSC 8)', '\x1b]8;;http://evil\x1b\\x', '\\x1b]8;;http://evil\\x1b\\x'],
  ['a device control string', '\x1bP$q"p\x1b\\', '\\x1bP$q"p\\x1b\\'],
  ['device queries', '\x1b[6n\x1b[c\x1b[>q\x1b[21t\x1bZ', '\\x1b[6n\\x1b[c\\x1b[>q\\x1b[21t\\x1bZ'],
  ['modes and a full reset', '\x1b[?1049h\x1b[?1000h\x1bc', '\\x1b[?1049h\\x1b[?1000h\\x1bc'],
  ['key settings that end with m', '\x1b[>4;2m\x1b[?4m', '\\x1b[>4;2m\\x1b[?4m'],
  ['8-bit controls', '\u009b2J\u009d0;x\u009c', '\\x9b2J\\x9d0;x\\x9c'],
  ['bells, backspaces and shifts', '\x07\b\x7f\x0e\x0f', '\\x07\\x08\\x7f\\x0e\\x0f'],
  ['hidden text (SGR 8)', 'a\x1b[8mhidden\x1b[28mb', 'ahiddenb'],
  ['fonts that outlast a reset', '\x1b[11m\x1b[12mx', 'x'],
  ['a sequence inside another one', '\x1b[3\x1b[31m1mx\x1b[0m', '\\x1b[31mx'],
  ['endless parameters', `\x1b[${'1;'.repeat(100)}m`, `\\x1b[${'1;'.repeat(100)}m`],
  ['a reversed direction', '\u202eabc\u2066', '\\u{202e}abc\\u{2066}'],
];
const COLOR = /\x1b\[((?:[0-79]|[0-9]{2,3})(?:;(?:[0-79]|[0-9]{2,3}))*)m/g;
/** Matches the characters that control a terminal, except tabs and line ends. */
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;
const WITH_COLORS = { env: { NO_COLOR: '' } };

const box = sandbox();
const expectedLines = ATTACKS.map(([, , shown]) => shown);

beforeAll(async () => {
  writeFileSync(join(box.directory, 'hostile'), ATTACKS.map(([, output]) => `${output}\n`).join(''));
  await box.startWorkers('--concurrency', '2');
  await enqueue(box, 'done', 'cat hostile');
  await untilState(box, 'done', 'completed');
});
afterAll(() => box.cleanup());

test.each([
  ['logs', ['logs', 'done']],
  ['logs -f', ['logs', '-f', 'done']],
  ['run', ['run', 'cat hostile']],
  ['run, on stderr', ['run', '--split-output', 'cat hostile >&2']],
  ['enqueue --follow', ['enqueue', '--follow', 'cat hostile']],
  ['run, with output in single bytes', ['run', 'dd bs=1 status=none if=hostile']],
])('S13: hostile output cannot control the terminal of %s', async (_, args) => {
  const terminal = onTerminal(box, args, 40, 400, WITH_COLORS);
  await terminal.closed;
  const text = terminal.output();
  const lines = text.replace(COLOR, '').split(/\r*\n/);
  expect(lines.filter((line) => CONTROL.test(line))).toEqual([]);
  for (const line of expectedLines) expect(lines).toContain(line);
  for (const [, parameters] of text.matchAll(COLOR)) expect(['0', '31']).toContain(parameters!);
});

test('S13: hostile output cannot control the screen of top', async () => {
  await enqueue(box, 'now', 'cat hostile; until [ -e go ]; do sleep 0.02; done');
  await untilState(box, 'now', 'processing');
  const top = onTerminal(box, ['top'], 40, 400, WITH_COLORS);
  // Reading the screen throws on every sequence that queuectl does not use itself.
  const lines = (): string[] => renderScreen(top.stdout(), 40, 400).lines;
  await until(() => lines().some((line) => line.includes('> now')), 'it shows the job');
  top.type('\r');
  await until(() => lines().includes(expectedLines.at(-1)!), 'it shows the output');
  expect(lines().slice(1, 1 + expectedLines.length)).toEqual(expectedLines);
  expect(top.stdout()).not.toContain('\x1b[8m');
  top.type('qq');
  expect(await top.closed).toBe(0);
  writeFileSync(join(box.directory, 'go'), '');
});

test('S13: colors in commands and errors are escaped, although those in output are not', async () => {
  const command = `: \x1b[41m; printf '\\033[41mfailed\\033[8m\\n' >&2; exit 3`;
  await enqueue(box, 'colored', command, { max_retries: 1 });
  await untilState(box, 'colored', 'dead');
  for (const args of [
    ['list'],
    ['show', 'colored'],
    ['dlq', 'list'],
    ['explain', 'colored'],
    ['top', '--once'],
  ]) {
    const terminal = onTerminal(box, args, 40, 400, WITH_COLORS);
    await terminal.closed;
    expect(terminal.output()).not.toContain('\x1b[41m');
    expect(terminal.output().replace(COLOR, '')).not.toMatch(CONTROL);
  }
  const list = onTerminal(box, ['list', '--state', 'dead'], 40, 400, WITH_COLORS);
  await list.closed;
  expect(list.output()).toContain('\\x1b[41m');
});

/** What cargo, pip and docker print: each step erases the line of the one before. */
const PROGRESS = "printf 'first line\\nfetching\\033[2K\\r10%%\\r\\033[Kdone\\n'";

test('S13: a progress bar erases its own line, and no other one', async () => {
  await enqueue(box, 'bar', PROGRESS);
  await untilState(box, 'bar', 'completed');
  for (const args of [
    ['logs', 'bar'],
    ['logs', '-f', 'bar'],
    ['run', PROGRESS],
  ]) {
    const terminal = onTerminal(box, args, 24, 80, WITH_COLORS);
    await terminal.closed;
    expect(terminal.output()).toContain('first line\r\nfetching\x1b[2K\r10%\r\x1b[Kdone\r\n');
  }
  expect((await box.run(['logs', 'bar'])).stdout).toContain('fetching\x1b[2K\r10%\r\x1b[Kdone\n');
  await enqueue(box, 'bars', `${PROGRESS}; until [ -e end ]; do sleep 0.02; done`);
  await untilState(box, 'bars', 'processing');
  const top = onTerminal(box, ['top'], 40, 100, WITH_COLORS);
  const lines = (): string[] => renderScreen(top.stdout(), 40, 100).lines;
  await until(() => lines().some((line) => line.includes('> bars')), 'it shows the job');
  top.type('\r');
  await until(() => lines().includes('done'), 'it shows the output');
  expect(lines().slice(1, 3)).toEqual(['first line', 'done']);
  top.type('qq');
  expect(await top.closed).toBe(0);
  writeFileSync(join(box.directory, 'end'), '');
});
