/** The time. It is passed in, so that every decision can be tested without waiting. */
export interface Clock {
  /** Returns the wall-clock time in milliseconds since 1970. */
  now(): number;
  /** Returns milliseconds that never step back, to measure how long something took. */
  monotonic(): number;
}

export type Random = () => number;

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** Resolves after this many milliseconds. `node:timers/promises` would add a millisecond to the start of every command. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const NEVER_NOTIFIED = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the whole process for this many milliseconds. */
export function pauseSync(ms: number): void {
  Atomics.wait(NEVER_NOTIFIED, 0, 0, ms);
}
