import { longTimeout } from './timer.ts';

/** The lengths of successive pauses after temporary errors (store busy, disk full, no process can be created). */
const PAUSES_MS = [100, 250, 500, 1000, 2000, 5000];
/** The limit of slots doubles each time this much time has passed without a failed start. */
const DOUBLING_MS = 2000;

/** Slows a worker down after temporary errors. */
export interface Throttle {
  /** The worker claims no jobs while this is true. */
  readonly paused: boolean;
  /** Starts a pause, unless there is one already. */
  slowDown(): void;
  /** Makes the next pause short again, after a success. */
  resetPauses(): void;
  /** Starts a pause and limits the slots to the running attempts, because the machine could not start another command. */
  limitSlots(running: number): void;
  /** Returns how many of `concurrency` slots can be used now. */
  slots(concurrency: number): number;
}

/** Creates a throttle. Repeated errors make the pauses longer, and `onResume` is called after each pause. */
export function createThrottle(onResume: () => void, monotonic: () => number): Throttle {
  let pauses = 0;
  let paused = false;
  let slotLimit = Number.POSITIVE_INFINITY;
  let limitedAt = 0;
  const slots = (concurrency: number): number => {
    const doublings = Math.floor((monotonic() - limitedAt) / DOUBLING_MS);
    return Math.min(concurrency, slotLimit * 2 ** doublings);
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
          onResume();
        },
        PAUSES_MS[Math.min(pauses++, PAUSES_MS.length - 1)]!,
      );
    },
    resetPauses() {
      pauses = 0;
    },
    limitSlots(running) {
      slotLimit = Math.max(1, Math.min(running, slots(running)));
      limitedAt = monotonic();
      this.slowDown();
    },
    slots,
  };
}
