import { expect, test } from 'bun:test';
import { createWakeUps } from '../../src/worker/wake-ups.ts';

/** Creates wake-ups with a clock that is set by hand. `random` returns almost 1, so that every delay has its limit. */
function inLab(otherWorkers: number) {
  const lab = { now: 0, looks: 0 };
  const wakeUps = createWakeUps(
    () => lab.looks++,
    () => lab.now,
    () => 0.999,
  );
  return {
    ...{ lab, wakeUps },
    /** Wakes the worker, and ends its look if it looks at once. Returns whether it did. */
    wake(foundJob: boolean): boolean {
      const before = lab.looks;
      wakeUps.receive(otherWorkers);
      const hasLooked = lab.looks > before;
      if (hasLooked) wakeUps.lookEnded(foundJob);
      return hasLooked;
    },
  };
}

/** Waits until the worker has looked this many times. */
async function untilLooks(lab: { looks: number }, count: number): Promise<void> {
  while (lab.looks < count) await new Promise((resolve) => setTimeout(resolve, 1));
}

test('a worker that gets the jobs looks at once each time', () => {
  const { wake } = inLab(63);
  for (let i = 0; i < 100; i++) expect(wake(true)).toBe(true);
});

test('the only worker looks at once, even after many wake-ups in vain', () => {
  const { wake } = inLab(0);
  for (let i = 0; i < 100; i++) expect(wake(false)).toBe(true);
});

test('a worker that was woken in vain looks later, once for many wake-ups', async () => {
  const { lab, wake, wakeUps } = inLab(63);
  expect(wake(false)).toBe(true);
  for (let i = 0; i < 100; i++) expect(wake(false)).toBe(false);
  await untilLooks(lab, 2);
  wakeUps.lookEnded(true);
  expect(wake(true)).toBe(true);
  expect(lab.looks).toBe(3);
});

test('of a thousand wake-ups, each of 64 workers that get no job follows few', async () => {
  const { lab, wake, wakeUps } = inLab(63);
  wake(false);
  let followed = 1;
  for (let i = 0; i < 1000; i++) {
    lab.now += 15;
    wake(false);
    if (lab.looks > followed) {
      followed = lab.looks;
      wakeUps.lookEnded(false);
    }
    if (i % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  wakeUps.cancel();
  expect(lab.looks).toBeLessThan(20);
});

test('after a second without a wake-up, a worker looks at once again', () => {
  const { lab, wake, wakeUps } = inLab(63);
  wake(false);
  expect(wake(false)).toBe(false);
  wakeUps.cancel();
  const other = inLab(63);
  other.wake(false);
  other.lab.now += 1001;
  expect(other.wake(false)).toBe(true);
  expect(lab.looks).toBe(1);
});

test('a worker that found the store busy looks again by itself, even without other workers', async () => {
  const { lab, wakeUps } = inLab(0);
  wakeUps.receive(0);
  wakeUps.lookWasRefused(0);
  await untilLooks(lab, 2);
});
