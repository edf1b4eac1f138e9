import { expect, test } from 'bun:test';
import { countOf, joinWithOr, verbFor } from '../../src/core/text/words.ts';

test('countOf and verbFor use the singular for one, and joinWithOr ends a list with or', () => {
  expect([countOf(0), countOf(1), countOf(2), countOf(1, 'queue')]).toEqual([
    ...['0 jobs', '1 job', '2 jobs', '1 queue'],
  ]);
  expect([
    verbFor(1, 'are not held'),
    verbFor(2, 'are not held'),
    verbFor(1, 'had already finished'),
  ]).toEqual([...['is not held', 'are not held', 'had already finished']]);
  expect([joinWithOr(['a']), joinWithOr(['a', 'b']), joinWithOr(['a', 'b', 'c'])]).toEqual([
    'a',
    'a or b',
    'a, b or c',
  ]);
});
