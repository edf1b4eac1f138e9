import { expect, test } from 'bun:test';
import { createPace } from '../../src/worker/pace.ts';

test('slots shrink to what the machine can run, and grow again while starts succeed', () => {
  let now = 0;
  const pace = createPace(
    () => {},
    () => now,
  );
  expect(pace.slots(500)).toBe(500);
  // Of 500 attempts that were started together, 480 failed one after the other for lack of resources.
  for (let running = 499; running >= 20; running--) pace.noRoom(running);
  expect(pace.slots(500)).toBe(20);
  expect(pace.paused).toBe(true);
  now += 1999;
  expect(pace.slots(500)).toBe(20);
  now += 1;
  expect(pace.slots(500)).toBe(40);
  pace.noRoom(21);
  expect(pace.slots(500)).toBe(21);
  now += 60_000;
  expect(pace.slots(500)).toBe(500);
  pace.noRoom(0);
  expect(pace.slots(500)).toBe(1);
});
