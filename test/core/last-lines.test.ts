import { describe, expect, test } from 'bun:test';
import { lastLines } from '../../src/core/last-lines.ts';

function last(text: string, count: number, size = 3): string {
  const bytes = Buffer.from(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  );
  return Buffer.from(lastLines(pieces, count)).toString();
}

describe('the last lines', () => {
  const cases: [string, string, number, string][] = [
    ['of nothing', '', 5, ''],
    ['none', 'a\nb\n', 0, ''],
    ['one of two', 'a\nb\n', 1, 'b\n'],
    ['an open line counts', 'a\nb\nc', 2, 'b\nc'],
    ['more than there are', 'a\nb\n', 9, 'a\nb\n'],
    ['empty lines count', 'a\n\n\n', 2, '\n\n'],
    ['only a newline', '\n', 1, '\n'],
    ['a newline at the very start', '\na', 1, 'a'],
    ['all of them', '\na', 2, '\na'],
  ];
  for (const [name, text, count, expected] of cases) {
    test(name, () => expect(last(text, count)).toBe(expected));
  }

  test('are the same however the text is split into pieces', () => {
    const text = Array.from({ length: 200 }, (_, i) => 'x'.repeat(i % 17)).join('\n');
    for (const size of [1, 2, 7, 64, 5000]) {
      for (const count of [1, 2, 50, 199, 200, 201]) {
        expect(last(text, count, size)).toBe(text.split('\n').slice(-count).join('\n'));
      }
    }
  });
});
