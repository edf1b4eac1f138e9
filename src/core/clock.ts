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
