import { longTimeout } from './timer.ts';

/** After an error that may pass (busy, disk full, no room for a process): pauses from short to long. */
const PAUSE_MS = [100, 250, 500, 1000, 2000, 5000];
/** After this long without a start that failed for want of room, twice as many jobs may run. */
const GROW_MS = 2000;

export interface Pace {
  /** Nothing new is begun now. */
  readonly paused: boolean;
  slowDown(): void;
  /** Something went well: the next pause is a short one. */
  recovered(): void;
  /** The machine had no room for one more than these (files, processes, memory): slows down, and limits the slots. */
  noRoom(running: number): void;
  /** How many of these slots can be used now. */
  slots(most: number): number;
}

/** Whoever fails again and again tries more and more rarely; `again` is called after each pause. */
export function createPace(again: () => void, monotonic: () => number): Pace {
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
