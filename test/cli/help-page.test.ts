import { expect, test } from 'bun:test';
import { type Block, renderPage, wrap } from '../../src/cli/help/help-page.ts';

const plain = (text: string): string => text;
const style = { heading: plain, term: plain, comment: plain };

const PAGE: Block[] = [
  'Adds one job or many jobs to a queue.',
  { heading: 'Flags' },
  [
    ['--id ID', 'the id'],
    ['--a-very-long-flag-with PLACEHOLDER', 'a text that is much too long for one line of this terminal'],
  ],
  { heading: 'Examples' },
  { code: ['# A caption', 'queuectl enqueue true'] },
];

test('a page is wrapped, with explanations indented to their column', () => {
  expect(renderPage(PAGE, { width: 60, ...style })).toBe(`Adds one job or many jobs to a queue.

Flags:
  --id ID  the id
  --a-very-long-flag-with PLACEHOLDER
           a text that is much too long for one line of this
           terminal

Examples:
  # A caption
  queuectl enqueue true
`);
});

test('on a narrow terminal an explanation starts below its term', () => {
  const text = renderPage(PAGE, { width: 40, ...style });
  expect(text).toContain('\n  --id ID\n        the id\n');
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(40);
});

test('a page is at most 100 columns wide', () => {
  const text = renderPage(['word '.repeat(60).trim()], { width: 200, ...style });
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBe(99);
});

test('a word longer than the line gets a line of its own', () => {
  expect(wrap('a longer-than-ten b', 10)).toEqual(['a', 'longer-than-ten', 'b']);
});
