import { onceAfter } from './timer.ts';

/** A busy worker reads its orders at most this often, unless it was woken. */
const INTERVAL_MS = 50;

/** Decides in which rounds a worker reads what others may have changed: its orders and the schedules. */
export interface Lookout {
  /** Makes the next round look. */
  wake(): void;
  /** Tells whether this round is to look. If it is not, a later round follows that is. */
  isDue(): boolean;
}

/** Creates a lookout. `runNow` starts a round. */
export function createLookout(runNow: () => void, monotonic: () => number): Lookout {
  let nextAt = Number.NEGATIVE_INFINITY;
  const lookAfter = onceAfter(runNow);
  return {
    wake() {
      nextAt = Number.NEGATIVE_INFINITY;
    },
    isDue() {
      const now = monotonic();
      const isDue = now >= nextAt;
      if (isDue) nextAt = now + INTERVAL_MS;
      else lookAfter(Math.ceil(nextAt - now));
      return isDue;
    },
  };
}
