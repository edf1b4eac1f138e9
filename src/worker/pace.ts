import { longTimeout } from './timer.ts';

/** After an error that may pass (busy, disk full, no room for a process): pauses from short to long. */
const PAUSE_MS = [100, 250, 500, 1000, 2000, 5000];

export interface Pace {
  /** Nothing new is begun now. */
  readonly paused: boolean;
  slowDown(): void;
  /** Something went well: the next pause is a short one. */
  recovered(): void;
}

/** Whoever fails again and again tries more and more rarely; `again` is called after each pause. */
export function createPace(again: () => void): Pace {
  let pauses = 0;
  let paused = false;
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
  };
}
