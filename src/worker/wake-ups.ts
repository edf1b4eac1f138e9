import type { App } from '../actions/app.ts';
import { longTimeout } from './timer.ts';

/** After a wake-up in vain, a worker waits up to this long for each other worker before it looks for jobs. The limit doubles each time. */
const FIRST_LIMIT_MS = 4;
const LAST_LIMIT_MS = 32;
/** The limit for any number of workers. */
const LONGEST_LIMIT_MS = 1000;
/** After this long without a wake-up, the next one is followed at once. */
const QUIET_MS = 1000;
/** A worker that could not claim a job because the store was busy waits up to this long longer. */
const REFUSED_MS = 3;
/** If a look is more than this far away, the worker receives no wake-ups until then, because each of them costs CPU time. */
const DEAF_MS = 10;

/**
 * Receives the wake-ups of a worker and decides how soon it looks for jobs after each. Every new job wakes all workers, but only
 * one of them gets it. A worker that was woken in vain waits for a random time after the next wake-ups, and the workers that get
 * the jobs do not. Thus, if jobs arrive quickly, few of many idle workers look for each of them.
 */
export interface WakeUps {
  /** Whether wake-ups are received, or a look is planned anyway. Otherwise the worker has to poll more often. */
  readonly canReceive: boolean;
  /** Notes the end of a look for jobs, and whether it has found one. */
  lookEnded(foundJob: boolean): void;
  /** Looks again soon, because the store was too busy to claim a job. */
  lookWasRefused(): void;
  /** Receives no more wake-ups, and drops a delayed look. */
  end(): void;
}

interface WakeUpOptions {
  look(): void;
  /** Returns the number of workers that may look instead. */
  otherWorkers(): number;
}

export function createWakeUps(
  { signals, clock, random }: Pick<App, 'signals' | 'clock' | 'random'>,
  { look, otherWorkers }: WakeUpOptions,
): WakeUps {
  let vainLooks = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  let isDelayed = false;
  let hasLooked = false;
  let hasFound = false;
  let hasEnded = false;
  let cancel = (): void => {};
  let stopReceiving: (() => void) | null = null;
  const canReceive = (): boolean => stopReceiving !== null || isDelayed;
  const startReceiving = (): void => {
    stopReceiving ??= signals.onWake(receive);
  };
  const receive = (): void => {
    const now = clock.monotonic();
    if (now - lastAt > QUIET_MS) vainLooks = 0;
    lastAt = now;
    if (isDelayed || hasEnded) return;
    const delayMs = nextDelay();
    // A timer of less than a millisecond would take longer than that.
    if (delayMs < 1) lookNow();
    else lookLater(delayMs);
  };
  const lookNow = (): void => {
    isDelayed = false;
    hasLooked = true;
    look();
  };
  const lookLater = (delayMs: number): void => {
    isDelayed = true;
    cancel = longTimeout(() => {
      // Wake-ups that were not received count as well. They are received again before the look, so that none gets lost.
      lastAt = clock.monotonic();
      startReceiving();
      lookNow();
    }, delayMs);
    if (delayMs <= DEAF_MS || !signals.reopensCheaply) return;
    stopReceiving?.();
    stopReceiving = null;
  };
  /** Returns a random delay that depends on the vain looks and on the number of workers that may look instead. */
  const nextDelay = (): number => {
    if (vainLooks === 0) return 0;
    const perWorkerMs = Math.min(FIRST_LIMIT_MS * 2 ** (vainLooks - 1), LAST_LIMIT_MS);
    return random() * Math.min(perWorkerMs * otherWorkers(), LONGEST_LIMIT_MS);
  };
  startReceiving();
  return {
    get canReceive() {
      return canReceive();
    },
    lookEnded(foundJob) {
      if (foundJob) vainLooks = 0;
      else if (hasLooked) vainLooks++;
      hasLooked = false;
      hasFound = foundJob;
      if (hasEnded || canReceive()) return;
      // It has failed before. If it works now, another look finds what was missed.
      startReceiving();
      if (canReceive()) look();
    },
    lookWasRefused() {
      // A worker that just ran a job soon tries again. In other workers, its code would run more slowly.
      if (!hasFound) vainLooks++;
      hasLooked = false;
      if (!isDelayed) lookLater(1 + random() * REFUSED_MS + nextDelay());
    },
    end() {
      hasEnded = true;
      cancel();
      stopReceiving?.();
    },
  };
}
