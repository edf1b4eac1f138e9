import { expect, test } from 'bun:test';
import { crashPointsNamed } from './f02-crash-points.ts';
import { seedOf } from './seed.ts';

/** The pattern that reads crash points from the source once missed the points named `mark`. */
test('F2: a worker that is killed before, while and after it marks an attempt loses nothing', async () => {
  const { violations, notes } = await crashPointsNamed(['mark']).run(3, seedOf('F2 mark'));
  expect(violations).toEqual([]);
  expect(notes).toBe('3 points');
});

/** Processes reach each of these crash points in only one scene. */
test('F2: a server killed while it records an action and a supervisor killed while it cleans up lose nothing', async () => {
  const { violations } = await crashPointsNamed(['note', 'sweep-lifeline']).run(4, seedOf('F2 rare'));
  expect(violations).toEqual([]);
});

test('F2: an unknown crash point is reported', () => {
  expect(() => crashPointsNamed(['nowhere'])).toThrow('there is no crash point nowhere');
});
