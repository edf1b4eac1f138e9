import { expect, test } from 'bun:test';
import { crashPointsNamed } from './f02-crash-points.ts';
import { seedOf } from './seed.ts';

/** One that a pattern over the source once missed. */
test('F2: a worker killed before, in and after it marks an attempt to be ended', async () => {
  const { violations, notes } = await crashPointsNamed(['mark']).run(3, seedOf('F2 mark'));
  expect(violations).toEqual([]);
  expect(notes).toBe('3 points');
});

/** Which one scene alone passes, and nothing passed once. */
test('F2: a server killed while it writes down what it did, a supervisor while it clears away', async () => {
  const { violations } = await crashPointsNamed(['note', 'sweep-lifeline']).run(4, seedOf('F2 rare'));
  expect(violations).toEqual([]);
});

test('F2: a point that is not there is named', () => {
  expect(() => crashPointsNamed(['nowhere'])).toThrow('there is no crash point nowhere');
});
