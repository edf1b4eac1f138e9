import { onceAfter } from './timer.ts';

/** A busy worker looks at most this often, unless it was woken or has a free slot. */
const INTERVAL_MS = 50;

/** Decides which rounds of a worker begin with a look at what others may have changed: its orders, jobs and schedules. */
export interface Lookout {
  /** Makes the next round look. */
  wake(): void;
  /** Tells whether this round is to look. If it is not, the worker looks later. */
  isDue(): boolean;
  /** Makes a later round look, unless the worker looks before. */
  lookLater(): void;
  /** Notes that the worker looks now. */
  looked(): void;
}

/** Creates a lookout. `runNow` starts a round. */
export function createLookout(runNow: () => void, monotonic: () => number): Lookout {
  let nextAt = Number.NEGATIVE_INFINITY;
  let isWanted = false;
  const runAfter = onceAfter(() => {
    if (isWanted) runNow();
  });
  const lookLater = (): void => {
    isWanted = true;
    runAfter(Math.max(0, Math.ceil(nextAt - monotonic())));
  };
  return {
    wake() {
      nextAt = Number.NEGATIVE_INFINITY;
    },
    isDue() {
      const isDue = monotonic() >= nextAt;
      if (!isDue) lookLater();
      return isDue;
    },
    lookLater,
    looked() {
      isWanted = false;
      nextAt = monotonic() + INTERVAL_MS;
    },
  };
}
