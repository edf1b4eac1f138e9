/** A source of the time. Functions get it as a parameter, so that tests can replace it. */
export interface Clock {
  /** Returns the wall-clock time in milliseconds since 1970. */
  now(): number;
  /** Returns a time in milliseconds that never goes back, for measuring durations. */
  monotonic(): number;
}

/** Returns a random number from 0 up to, but not including, 1. */
export type Random = () => number;

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** Resolves after this many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Blocks the calling thread for this many milliseconds. */
export function pauseSync(ms: number): void {
  // Nobody notifies this array, so the wait ends after its time.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/**
 * Asks repeatedly, with a pause after each try, until the answer is neither false, null nor undefined. Returns that answer. After
 * `limitMs`, returns the last answer, whatever it is.
 */
export async function pollUntil<T>(
  ask: () => T | Promise<T>,
  everyMs: number,
  limitMs = Number.POSITIVE_INFINITY,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const answer = await ask();
    const isAnswered = answer !== false && answer !== null && answer !== undefined;
    if (isAnswered || performance.now() >= deadline) return answer;
    await pause(everyMs);
  }
}

/** Returns the length of the pause after this many earlier failures in a row. It doubles, from the first to the longest. */
export function growingPause(failures: number, firstMs: number, longestMs: number): number {
  return Math.min(longestMs, firstMs * 2 ** failures);
}
