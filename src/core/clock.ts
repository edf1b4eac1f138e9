/** Time and chance are passed in, so that every decision can be tested without waiting. */
export interface Clock {
  /** Wall-clock milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that never step back: for measuring how long something took. */
  monotonic(): number;
}

export type Random = () => number;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** Resolves after this many milliseconds. `node:timers/promises` would add a millisecond to the start of every command. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
