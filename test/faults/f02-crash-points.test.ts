import { expect, test } from 'bun:test';
import { crashPointsNamed } from './f02-crash-points.ts';
import { seedOf } from './seed.ts';

/** The pattern that reads crash points from the source once missed the points named `setEndReason`. */
test('F2: nothing is lost if a worker is killed before, while or after it stores why it ends an attempt', async () => {
  const { violations, notes } = await crashPointsNamed(['setEndReason']).run(3, seedOf('F2 setEndReason'));
  expect(violations).toEqual([]);
  expect(notes).toBe('3 points');
});

/** Processes reach each of these crash points in only one scene. */
test('F2: nothing is lost if a server is killed while it records an action, or a worker before it removes an old lifeline', async () => {
  const { violations } = await crashPointsNamed(['note', 'sweep-lifeline']).run(4, seedOf('F2 rare'));
  expect(violations).toEqual([]);
});

test('F2: a name that selects no crash point is refused', () => {
  expect(() => crashPointsNamed(['nowhere'])).toThrow('there is no crash point nowhere');
});
