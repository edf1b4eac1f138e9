import { expect, test } from 'bun:test';
import { paintLine } from '../../../src/cli/top/line.ts';
import { lineCollector, type Output, outputLines } from '../../../src/cli/top/output.ts';
import { outputParser } from '../../../src/core/text/output-text.ts';

const empty = (): Output => ({ id: 'job', job: null, first: 0, lines: [], note: '' });

/** Collects pieces of output and returns them as an Output. */
function collect(...pieces: string[]): Output {
  const output = empty();
  const reader = outputParser();
  const { add } = lineCollector(output);
  for (const piece of pieces) add(reader.read(Buffer.from(piece)));
  add(reader.end());
  return output;
}

/** Draws the output with colors. */
function painted(output: Output, width = 40, height = 20): string[] {
  return outputLines(output, null, width, height)
    .slice(1)
    .map((line) => paintLine(line, { color: true, ascii: false }));
}

test('output that arrives in parts is joined into lines, and tabs become spaces', () => {
  const output = collect('on', 'e\n', '\n', 'a\tb', 'c\n\tx\nlast');
  expect(painted(output)).toEqual(['one', '', 'a       bc', '        x', 'last']);
});

test('the end of an attempt ends an incomplete line', () => {
  const output = empty();
  const { add, end } = lineCollector(output);
  for (const text of ['first', 'second\n', 'third']) {
    add([{ text, style: '' }]);
    end();
  }
  expect(painted(output)).toEqual(['first', 'second', 'third']);
});

test('only the last 5000 lines are kept, and their line numbers stay the same', () => {
  const output = empty();
  const { add } = lineCollector(output);
  for (let i = 0; i < 6000; i++) add([{ text: `line ${i}\n`, style: '' }]);
  expect(output.lines).toHaveLength(5000);
  expect(output.first).toBe(1000);
  expect(output.lines[0]).toEqual([{ text: 'line 1000', style: '' }]);
});

test('output is shown from a given line or at its end, and long lines are wrapped', () => {
  const lines = ['first', 'x'.repeat(25), 'last'].map((text) => [{ text, style: '' }]);
  const output = { ...empty(), first: 100, lines };
  const texts = (top: number | null, height: number) =>
    outputLines(output, top, 10, height)
      .slice(1)
      .map((line) => line.map(({ text }) => text).join(''));
  expect(texts(null, 4)).toEqual(['x'.repeat(10), 'xxxxx', 'last']);
  expect(texts(100, 4)).toEqual(['first', 'x'.repeat(10), 'x'.repeat(10)]);
  expect(texts(102, 4)).toEqual(['last']);
  expect(texts(null, 1)).toEqual([]);
});

test.each([
  ['a progress bar', ['10%\r', '50%\r', '100%'], '100%'],
  ['a shorter text, which leaves the rest', ['loading\rdone'], 'doneing'],
  ['a Windows line end', ['one\r\n'], 'one'],
  ['a carriage return at the end', ['one\r'], 'one'],
  ['a tab, which erases nothing', ['0123456789\r\tx'], '01234567x9'],
  ['half of a wide character', ['日本\rx'], 'x 本'],
  ['a wide character over half of another one', ['a日本\r語'], '語 本'],
  ['a combining mark in the next piece', ['e', '\u0301x\ry'], 'yx'],
  ['a cursor movement, which is shown as text', ['a\x1b[2Ab'], 'a\\x1b[2Ab'],
] as const)('a carriage return overwrites as on a terminal: %s', (_, pieces, shown) => {
  expect(painted(collect(...pieces))).toEqual([shown]);
});

test('colors are drawn within each line and continue on the next one', () => {
  expect(painted(collect('a\x1b[31mb\nc', '\x1b[1md\x1b[0me\n'))).toEqual([
    'a\x1b[31mb\x1b[0m',
    '\x1b[31mc\x1b[0m\x1b[31;1md\x1b[0me',
  ]);
  expect(painted(collect('\x1b[41mabcdef'), 4)).toEqual(['\x1b[41mabcd\x1b[0m', '\x1b[41mef\x1b[0m']);
  expect(painted(collect('\x1b[31mred\r\x1b[32mg'))).toEqual(['\x1b[32mg\x1b[0m\x1b[31med\x1b[0m']);
  const [line] = outputLines(collect('\x1b[31mred'), null, 40, 20).slice(1);
  expect(paintLine(line!, { color: false, ascii: false })).toBe('red');
});

test('a progress bar that never ends takes a bounded amount of memory and shows its last state', () => {
  const output = empty();
  const { add } = lineCollector(output);
  let longest = 0;
  for (let i = 0; i < 50_000; i++) {
    add([{ text: `\r${i} of 50000`, style: '32' }]);
    longest = Math.max(
      longest,
      output.lines.flat().reduce((sum, { text }) => sum + text.length, 0),
    );
  }
  add([{ text: '!', style: '' }]);
  expect(painted(output)).toEqual(['\x1b[32m49999 of 50000\x1b[0m!']);
  expect(longest).toBeLessThan(11_000);
});

test.each([
  ['10 %\r\x1b[K', ''],
  ['10 %\r\x1b[Kdone', 'done'],
  ['abcdef\r\t\x1b[1K!', '        !'],
  ['abcdef\rab\x1b[K', 'ab'],
  ['abcdef\rab\x1b[0K!', 'ab!'],
  ['abcdef\rab\x1b[1K', '   def'],
  ['abcdef\rab\x1b[2K', '  '],
  ['abcdef\rab\x1b[2Kx', '  x'],
  ['漢字\ra\x1b[K', 'a'],
  ['漢字\rabc\x1b[1K', '    '],
])('erasing a part of the line takes effect: %j', (text, expected) => {
  expect(painted(collect(text, '\n'))).toEqual([expected]);
  expect(painted(collect(...text, '\n'))).toEqual([expected]);
});

test('a line that is erased again and again stays short', () => {
  const output = empty();
  const reader = outputParser();
  const { add } = lineCollector(output);
  for (let i = 0; i < 5000; i++) add(reader.read(Buffer.from(`\x1b[2K\r${i} of 5000 \x1b[K`)));
  expect(painted(output)).toEqual(['4999 of 5000 ']);
  expect(output.lines[0]!.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(11_000);
});
