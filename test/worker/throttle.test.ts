import { expect, test } from 'bun:test';
import { createThrottle } from '../../src/worker/slots.ts';

test('slots shrink to the number of jobs that could start, and grow again with time', () => {
  let now = 0;
  const throttle = createThrottle(
    () => {},
    () => now,
  );
  expect(throttle.slots(500)).toBe(500);
  // 480 of 500 jobs that are started together fail to start, one after the other.
  for (let running = 499; running >= 20; running--) throttle.limitSlots(running);
  expect(throttle.slots(500)).toBe(20);
  expect(throttle.paused).toBe(true);
  now += 1999;
  expect(throttle.slots(500)).toBe(20);
  now += 1;
  expect(throttle.slots(500)).toBe(40);
  throttle.limitSlots(21);
  expect(throttle.slots(500)).toBe(21);
  now += 60_000;
  expect(throttle.slots(500)).toBe(500);
  throttle.limitSlots(0);
  expect(throttle.slots(500)).toBe(1);
});
