import { longTimeout } from './timer.ts';

/** The pauses after temporary errors (store busy, disk full, no process can be created), one after the other. */
const PAUSE_MS = [100, 250, 500, 1000, 2000, 5000];
/** The number of slots doubles after this time without a failed start. */
const GROW_MS = 2000;

/** Slows a worker down after temporary errors. */
export interface Throttle {
  /** The worker claims no jobs while this is true. */
  readonly paused: boolean;
  slowDown(): void;
  /** Makes the next pause short again, after a success. */
  recovered(): void;
  /** Slows down and limits the slots to the running attempts, because the machine could not start another command. */
  noRoom(running: number): void;
  /** Returns how many of `most` slots can be used now. */
  slots(most: number): number;
}

/** Creates a throttle. Repeated errors make the pauses longer, and `again` is called after each pause. */
export function createThrottle(again: () => void, monotonic: () => number): Throttle {
  let pauses = 0;
  let paused = false;
  let limit = Number.POSITIVE_INFINITY;
  let limitedAt = 0;
  const slots = (most: number): number => {
    const doublings = Math.floor((monotonic() - limitedAt) / GROW_MS);
    return Math.min(most, limit * 2 ** doublings);
  };
  return {
    get paused() {
      return paused;
    },
    slowDown() {
      if (paused) return;
      paused = true;
      longTimeout(
        () => {
          paused = false;
          again();
        },
        PAUSE_MS[Math.min(pauses++, PAUSE_MS.length - 1)]!,
      );
    },
    recovered() {
      pauses = 0;
    },
    noRoom(running) {
      limit = Math.max(1, Math.min(running, slots(running)));
      limitedAt = monotonic();
      this.slowDown();
    },
    slots,
  };
}
