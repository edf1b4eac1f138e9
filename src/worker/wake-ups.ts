import { longTimeout } from './timer.ts';

/** After the first wake-up in vain, a worker waits up to this long before it looks for jobs. The limit doubles each time. */
const FIRST_LIMIT_MS = 4;
/** The limit also depends on the number of other workers. So among many idle workers one looks after a few milliseconds. */
const LIMIT_PER_WORKER_MS = 8;
const LONGEST_LIMIT_MS = 500;
/** After this long without a wake-up, the next one is followed at once. */
const QUIET_MS = 1000;
/** A worker that could not claim a job because the store was busy waits up to this long longer. */
const REFUSED_MS = 3;

/**
 * Decides how soon a worker looks for jobs after a wake-up. Every new job wakes all workers, but only one of them gets it. A
 * worker that was woken in vain waits for a random time after the next wake-ups, and the workers that get the jobs do not.
 * Thus, if jobs arrive quickly, few of many idle workers look for each of them.
 */
export interface WakeUps {
  /** Follows a wake-up, at once or after a delay. Does nothing if an earlier one is still to be followed. */
  receive(otherWorkers: number): void;
  /** Notes the end of a look for jobs, and whether it has found one. */
  lookEnded(foundJob: boolean): void;
  /** Looks again soon, because the store was too busy to claim a job. */
  lookWasRefused(otherWorkers: number): void;
  /** Drops a delayed look. */
  cancel(): void;
}

export function createWakeUps(look: () => void, monotonic: () => number, random: () => number): WakeUps {
  let vainLooks = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  let isDelayed = false;
  let hasLooked = false;
  let cancel = (): void => {};
  const lookNow = (): void => {
    isDelayed = false;
    hasLooked = true;
    look();
  };
  const lookLater = (delayMs: number): void => {
    isDelayed = true;
    cancel = longTimeout(lookNow, delayMs);
  };
  /** Returns a random delay that depends on the vain looks and on the number of workers that may look instead. */
  const nextDelay = (otherWorkers: number): number =>
    vainLooks === 0
      ? 0
      : random() *
        Math.min(FIRST_LIMIT_MS * 2 ** (vainLooks - 1), LIMIT_PER_WORKER_MS * otherWorkers, LONGEST_LIMIT_MS);
  return {
    receive(otherWorkers) {
      const now = monotonic();
      if (now - lastAt > QUIET_MS) vainLooks = 0;
      lastAt = now;
      if (isDelayed) return;
      const delayMs = nextDelay(otherWorkers);
      // A timer of less than a millisecond would take longer than that.
      if (delayMs < 1) lookNow();
      else lookLater(delayMs);
    },
    lookEnded(foundJob) {
      if (foundJob) vainLooks = 0;
      else if (hasLooked) vainLooks++;
      hasLooked = false;
    },
    lookWasRefused(otherWorkers) {
      vainLooks++;
      hasLooked = false;
      if (!isDelayed) lookLater(1 + random() * REFUSED_MS + nextDelay(otherWorkers));
    },
    cancel: () => cancel(),
  };
}
