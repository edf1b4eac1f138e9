import { expect, test } from 'bun:test';
import { lineCollector } from '../../../src/cli/top/follower.ts';
import { type Output, outputLines } from '../../../src/cli/top/output.ts';

const empty = (): Output => ({ id: 'job', job: null, first: 0, lines: [], note: '' });

test('lines grow as output arrives, and tabs become spaces', () => {
  const output = empty();
  const add = lineCollector(output);
  for (const text of ['on', 'e\n', '\n', 'a\tb', 'c\n\nlast']) add(text);
  expect(output.lines).toEqual(['one', '', 'a       bc', '', 'last']);
});

test('the number of kept lines is limited, and line numbers stay the same', () => {
  const output = empty();
  const add = lineCollector(output);
  for (let i = 0; i < 6000; i++) add(`line ${i}\n`);
  expect(output.lines).toHaveLength(5000);
  expect(output.first).toBe(1000);
  expect(output.lines[0]).toBe('line 1000');
});

test('output is shown from a line on or at its end, and a long line is wrapped', () => {
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
