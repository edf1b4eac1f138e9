import type { App } from '../actions/app.ts';
import { growingPause } from '../core/time/clock.ts';
import { freeSlots } from './slots.ts';
import type { WorkerState } from './state.ts';
import { obeyOrders } from './stopping.ts';
import { longTimeout, onceAfter } from './timer.ts';

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

/**
 * Reads the agenda of the worker, obeys the orders in it, and notes when the next job and the next tick are due. Returns whether
 * a job can be claimed now. A worker without a free slot does not look for jobs.
 */
export async function look(worker: WorkerState): Promise<boolean> {
  const { app, id, queues, timers, loops, lookout, scheduling } = worker;
  lookout.looked();
  const now = app.clock.now();
  const agenda = await app.store.agenda(id, freeSlots(worker) > 0 ? queues : [], now);
  const { nextDue } = agenda;
  scheduling.nextAt = agenda.nextTick;
  timers.due();
  if (nextDue !== null && nextDue > now) timers.due = longTimeout(loops.work.runNow, nextDue - now);
  await obeyOrders(worker, agenda);
  return nextDue !== null && nextDue <= now;
}

/**
 * The longest delay of a look after a wake-up in vain, if there is one other worker. It doubles with each vain look up to the
 * second number, and is multiplied by the number of other workers.
 */
const FIRST_LIMIT_MS = 4;
const LAST_LIMIT_MS = 32;
/** No delay is longer than this, however many workers there are. */
const LONGEST_LIMIT_MS = 1000;
/** After this long without a wake-up, the next one is followed at once. */
const QUIET_MS = 1000;
/** A worker that could not claim a job because the store was busy waits up to this much longer. */
const REFUSED_MS = 3;
/** A worker that just ran a job tries this often to claim another one before it leaves that to other workers. */
const TRIES_AFTER_JOB = 10;
/** Before a look that comes later than this, the worker receives no wake-ups, because each of them costs CPU time. */
const UNWATCHED_ABOVE_MS = 10;

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
  /** Looks again soon, because the store was too busy to claim a job, or to claim another one. */
  lookWasRefused(foundJob: boolean): void;
  /** Receives no more wake-ups, and drops a delayed look. */
  end(): void;
}

interface WakeUpOptions {
  look(): void;
  /** Returns the number of other workers of the store, of which some may look instead. */
  otherWorkers(): number;
}

export function createWakeUps(
  { wakeups, clock, random }: Pick<App, 'wakeups' | 'clock' | 'random'>,
  { look, otherWorkers }: WakeUpOptions,
): WakeUps {
  const patience = createPatience(random, otherWorkers);
  let lastAt = Number.NEGATIVE_INFINITY;
  let isDelayed = false;
  let hasLooked = false;
  let hasEnded = false;
  let cancel = (): void => {};
  let stopReceiving: (() => void) | null = null;
  const canReceive = (): boolean => stopReceiving !== null || isDelayed;
  const startReceiving = (): void => {
    stopReceiving ??= wakeups.onWake(receive);
  };
  const receive = (): void => {
    const now = clock.monotonic();
    if (now - lastAt > QUIET_MS) patience.reset();
    lastAt = now;
    if (isDelayed || hasEnded) return;
    const delayMs = patience.delayMs();
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
    if (delayMs <= UNWATCHED_ABOVE_MS || !wakeups.reopensCheaply) return;
    stopReceiving?.();
    stopReceiving = null;
  };
  startReceiving();
  return {
    get canReceive() {
      return canReceive();
    },
    lookEnded(foundJob) {
      patience.lookEnded(foundJob, hasLooked);
      hasLooked = false;
      if (hasEnded || canReceive()) return;
      // It has failed before. If it works now, another look finds what was missed.
      startReceiving();
      if (canReceive()) look();
    },
    lookWasRefused(foundJob) {
      if (foundJob) patience.lookEnded(true, hasLooked);
      patience.lookWasRefused();
      hasLooked = false;
      if (!isDelayed && !hasEnded) lookLater(1 + random() * REFUSED_MS + patience.delayMs());
    },
    end() {
      hasEnded = true;
      cancel();
      stopReceiving?.();
      stopReceiving = null;
    },
  };
}

/** Decides how long a worker waits after a wake-up, by the results of its last looks. */
function createPatience(random: () => number, otherWorkers: () => number) {
  let vainLooks = 0;
  let refusals = 0;
  let foundJobLast = false;
  return {
    reset() {
      vainLooks = 0;
    },
    /** Notes the end of a look, and whether a wake-up was its reason. */
    lookEnded(foundJob: boolean, wasWoken: boolean) {
      if (foundJob) vainLooks = 0;
      else if (wasWoken) vainLooks++;
      refusals = 0;
      foundJobLast = foundJob;
    },
    lookWasRefused() {
      refusals++;
      // In a worker that has run few jobs, the next one takes more CPU time, because the code of the worker is not compiled yet.
      if (!foundJobLast || refusals > TRIES_AFTER_JOB) vainLooks++;
    },
    /** Returns a random delay that depends on the vain looks and on the number of other workers. */
    delayMs() {
      if (vainLooks === 0) return 0;
      const perWorkerMs = growingPause(vainLooks - 1, FIRST_LIMIT_MS, LAST_LIMIT_MS);
      return random() * Math.min(perWorkerMs * otherWorkers(), LONGEST_LIMIT_MS);
    },
  };
}
