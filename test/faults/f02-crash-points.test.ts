import { expect, test } from 'bun:test';
import { crashPointsNamed } from './f02-crash-points.ts';
import { seedOf } from './seed.ts';

/** One that a pattern over the source once missed. */
test('F2: a worker killed before, in and after it marks an attempt to be ended', async () => {
  const { violations, notes } = await crashPointsNamed(['mark']).run(3, seedOf('F2 mark'));
  expect(violations).toEqual([]);
  expect(notes).toBe('3 points');
});

test('F2: a point that is not there is named', () => {
  expect(() => crashPointsNamed(['nowhere'])).toThrow('there is no crash point nowhere');
});
