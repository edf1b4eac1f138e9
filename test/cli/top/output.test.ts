import { expect, test } from 'bun:test';
import { lineCollector } from '../../../src/cli/top/follower.ts';
import { type Output, outputLines } from '../../../src/cli/top/output.ts';

const empty = (): Output => ({ id: 'job', job: null, first: 0, lines: [], note: '' });

test('output that arrives in parts is joined into lines, and tabs become spaces', () => {
  const output = empty();
  const add = lineCollector(output);
  for (const text of ['on', 'e\n', '\n', 'a\tb', 'c\n\tx\nlast']) add(text);
  expect(output.lines).toEqual(['one', '', 'a       bc', '        x', 'last']);
});

test('only the last 5000 lines are kept, and their line numbers stay the same', () => {
  const output = empty();
  const add = lineCollector(output);
  for (let i = 0; i < 6000; i++) add(`line ${i}\n`);
  expect(output.lines).toHaveLength(5000);
  expect(output.first).toBe(1000);
  expect(output.lines[0]).toBe('line 1000');
});

test('output is shown from a given line or at its end, and long lines are wrapped', () => {
  const output = { ...empty(), first: 100, lines: ['first', 'x'.repeat(25), 'last'] };
  const texts = (top: number | null, height: number) =>
    outputLines(output, top, 10, height)
      .slice(1)
      .map((line) => line.map(({ text }) => text).join(''));
  expect(texts(null, 4)).toEqual(['x'.repeat(10), 'xxxxx', 'last']);
  expect(texts(100, 4)).toEqual(['first', 'x'.repeat(10), 'x'.repeat(10)]);
  expect(texts(102, 4)).toEqual(['last']);
  expect(texts(null, 1)).toEqual([]);
});
