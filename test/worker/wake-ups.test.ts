import { expect, test } from 'bun:test';
import { createWakeUps } from '../../src/worker/rounds.ts';

/** Creates wake-ups with a clock and wake-ups that are set by hand. `random` returns almost 1, so that every delay has its limit. */
function inLab(otherWorkers: number, reopensCheaply = true) {
  const lab = {
    ...{ now: 0, looks: 0, canOpen: true, openedAtLook: true },
    /** The callback that a signal calls, or null if wake-ups are not received. */
    receive: null as (() => void) | null,
  };
  const wakeups = {
    ...{ wake() {}, tellChange() {}, onChange: () => null, reopensCheaply },
    onWake(callback: () => void) {
      if (!lab.canOpen) return null;
      lab.receive = callback;
      return () => {
        lab.receive = null;
      };
    },
  };
  const clock = { now: () => lab.now, monotonic: () => lab.now };
  const look = (): void => {
    lab.looks++;
    lab.openedAtLook = lab.receive !== null;
  };
  const app = { wakeups, clock, random: () => 0.999 };
  const wakeUps = createWakeUps(app, { look, otherWorkers: () => otherWorkers });
  return {
    ...{ lab, wakeUps },
    /** Wakes the worker, and ends its look if it looks at once. Returns whether it did. */
    wake(foundJob: boolean): boolean {
      const before = lab.looks;
      lab.receive?.();
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

test.each([true, false])(
  'a worker that was woken in vain looks later, once for many wake-ups (%p)',
  async (cheap) => {
    const { lab, wake, wakeUps } = inLab(63, cheap);
    expect(wake(false)).toBe(true);
    for (let i = 0; i < 100; i++) expect(wake(false)).toBe(false);
    await untilLooks(lab, 2);
    wakeUps.lookEnded(true);
    expect(wake(true)).toBe(true);
    expect(lab.looks).toBe(3);
  },
);

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
  wakeUps.end();
  expect(lab.looks).toBeLessThan(20);
});

test('before a late look, wake-ups are received only by signals that are costly to open again', async () => {
  for (const cheap of [true, false]) {
    const { lab, wake, wakeUps } = inLab(63, cheap);
    wake(false);
    wake(false);
    expect([lab.receive !== null, wakeUps.canReceive]).toEqual([!cheap, true]);
    await untilLooks(lab, 2);
    expect(lab.openedAtLook).toBe(true);
    wakeUps.end();
    expect(lab.receive).toBeNull();
  }
});

test('before a look that comes soon, wake-ups are still received', () => {
  const { lab, wake, wakeUps } = inLab(1);
  wake(false);
  expect(wake(false)).toBe(false);
  expect(lab.receive).not.toBeNull();
  wakeUps.end();
});

test('wake-ups that were not received do not count as a quiet time', async () => {
  const { lab, wake, wakeUps } = inLab(63);
  wake(false);
  wake(false);
  lab.now += 1500;
  await untilLooks(lab, 2);
  wakeUps.lookEnded(false);
  lab.now += 10;
  expect(wake(false)).toBe(false);
  wakeUps.end();
});

test('if wake-ups cannot be received again, the worker polls, and looks once more as soon as they can', async () => {
  const { lab, wake, wakeUps } = inLab(63);
  wake(false);
  wake(false);
  lab.canOpen = false;
  await untilLooks(lab, 2);
  wakeUps.lookEnded(false);
  expect([lab.receive, wakeUps.canReceive]).toEqual([null, false]);
  lab.canOpen = true;
  wakeUps.lookEnded(false);
  expect([lab.receive !== null, wakeUps.canReceive, lab.looks]).toEqual([true, true, 3]);
  wakeUps.lookEnded(false);
  expect(lab.looks).toBe(3);
});

test('after a second without a wake-up, a worker looks at once again', () => {
  const { lab, wake, wakeUps } = inLab(63);
  wake(false);
  expect(wake(false)).toBe(false);
  wakeUps.end();
  const other = inLab(63);
  other.wake(false);
  other.lab.now += 1001;
  expect(other.wake(false)).toBe(true);
  expect(lab.looks).toBe(1);
});

test('a worker that found the store busy looks again by itself, even without other workers', async () => {
  const { lab, wakeUps } = inLab(0);
  lab.receive!();
  wakeUps.lookWasRefused(false);
  await untilLooks(lab, 2);
});

test.each([true, false])(
  'a worker that just got a job tries ten times more, although the store is busy (%p)',
  async (atOnce) => {
    const { lab, wake, wakeUps } = inLab(63);
    if (!atOnce) wake(true);
    for (let i = 0; i < 10; i++) {
      const before = lab.looks;
      wakeUps.lookWasRefused(atOnce && i === 0);
      expect(lab.receive).not.toBeNull();
      await untilLooks(lab, before + 1);
    }
    wakeUps.lookWasRefused(false);
    expect(lab.receive).toBeNull();
    wakeUps.end();
  },
);

test('an ended worker does not look', () => {
  const { lab, wakeUps } = inLab(0);
  const receive = lab.receive!;
  wakeUps.end();
  receive();
  wakeUps.lookWasRefused(false);
  wakeUps.lookEnded(false);
  expect([lab.looks, lab.receive, wakeUps.canReceive]).toEqual([0, null, false]);
});
