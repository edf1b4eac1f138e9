import { expect, test } from 'bun:test';
import { countOf, either, forCount } from '../../src/core/words.ts';

test('one has the singular and other numbers the plural', () => {
  expect([countOf(0), countOf(1), countOf(2), countOf(1, 'queue')]).toEqual([
    ...['0 jobs', '1 job', '2 jobs', '1 queue'],
  ]);
  expect([1, 2].map((count) => forCount(count, 'are not held'))).toEqual(['is not held', 'are not held']);
  expect(forCount(1, 'had already finished')).toBe('had already finished');
  expect([either(['a']), either(['a', 'b']), either(['a', 'b', 'c'])]).toEqual(['a', 'a or b', 'a, b or c']);
});
