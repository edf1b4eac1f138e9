import { describe, expect, test } from 'bun:test';
import { lastLines } from '../../src/core/text/last-lines.ts';

function lastLinesOf(text: string, count: number, size = 3): string {
  const bytes = Buffer.from(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  );
  return Buffer.from(lastLines(pieces, count)).toString();
}

describe('the last lines', () => {
  const cases: [text: string, count: number, expected: string][] = [
    ['', 5, ''],
    ['a\nb\n', 0, ''],
    ['a\nb\n', 1, 'b\n'],
    ['a\nb\nc', 2, 'b\nc'],
    ['a\nb\n', 9, 'a\nb\n'],
    ['a\n\n\n', 2, '\n\n'],
    ['\n', 1, '\n'],
    ['\na', 1, 'a'],
    ['\na', 2, '\na'],
  ];
  for (const [text, count, expected] of cases)
    test(`of ${JSON.stringify(text)}, up to ${count}, are ${JSON.stringify(expected)}`, () =>
      expect(lastLinesOf(text, count)).toBe(expected));

  test('are the same however the text is split into pieces', () => {
    const text = Array.from({ length: 200 }, (_, i) => 'x'.repeat(i % 17)).join('\n');
    for (const size of [1, 2, 7, 64, 5000]) {
      for (const count of [1, 2, 50, 199, 200, 201]) {
        expect(lastLinesOf(text, count, size)).toBe(text.split('\n').slice(-count).join('\n'));
      }
    }
  });
});
