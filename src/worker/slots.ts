import type { App } from '../actions/app.ts';
import type { ClaimedJob, EndReason } from '../core/jobs/job.ts';
import { growingPause } from '../core/time/clock.ts';
import { trimAllAttempts } from '../exec/trim.ts';
import type { Batching } from '../store/contract/claims.ts';
import { runAttempt } from './attempt.ts';
import { longTimeout } from './loops.ts';
import { type Adoption, type EndedAttempt, fail, type WorkerState } from './state.ts';

/** The default, for a store with cheap transactions. */
const DEFAULT_BATCHING: Batching = {
  aheadPerSlot: 8,
  aheadMs: 25,
  mostAhead: 32,
  gatherMs: 12,
  reservePerSlot: 0,
};

export const batchingOf = ({ store }: Pick<App, 'store'>): Batching => store.batching ?? DEFAULT_BATCHING;

/** Returns how many jobs may be claimed now, without those that are claimed ahead. */
export function freeSlots(worker: WorkerState): number {
  const { order, throttle, options, turns, mayStart, savesSpace } = worker;
  if (order !== null || throttle.paused || !mayStart || savesSpace) return 0;
  return Math.max(0, throttle.slots(options.concurrency) - turns.running - turns.waiting);
}

/** Returns how many more jobs may be claimed ahead. */
export function slotsAhead(worker: WorkerState): number {
  const { order, throttle, options, turns, mayStart, savesSpace } = worker;
  const mayUseAll = !throttle.paused && throttle.slots(options.concurrency) === options.concurrency;
  return order === null && mayStart && !savesSpace && mayUseAll ? turns.ahead : 0;
}

/** Returns the highest priority of the jobs of this worker that have not ended. Returns null if there are none. */
export function highestPriority({ live }: WorkerState): number | null {
  let highest: number | null = null;
  for (const { job } of live.values()) if (highest === null || job.priority > highest) highest = job.priority;
  return highest;
}

/** Tells whether this worker runs a job that it holds, or has a result of it that is not stored yet. */
export function isKnown({ live, ended }: WorkerState, { claim }: ClaimedJob): boolean {
  return live.has(claim.attempt) || ended.some(({ job }) => job.claim.attempt === claim.attempt);
}

/** Starts to run an attempt. When it has ended, a later pass of the work loop settles it and fills its slot again. */
export function launch(
  worker: WorkerState,
  job: ClaimedJob,
  adoption: Adoption | null,
  heldAt?: number,
): void {
  const attempt = runAttempt(worker, job, adoption, heldAt);
  worker.live.set(job.claim.attempt, attempt);
  // Without a running attempt, these loops pause.
  if (worker.live.size === 1) {
    worker.loops.trim.start();
    worker.loops.share.start();
  }
  attempt.done.then(
    (finished) => {
      worker.live.delete(job.claim.attempt);
      if (adoption === null && !finished?.givenBack) worker.turns.free(runMsOf(finished));
      if (finished === null) worker.emit({ type: 'claim-lost', job });
      else {
        worker.ended.push(finished);
        if (finished.outcome.why === 'never-started' && !finished.adopted && !finished.givenBack) {
          worker.throttle.limitSlots(worker.turns.running);
          worker.turns.giveBackAll();
          // The output of a command may have filled the disk, and a store on a server does not notice that.
          trimAllAttempts(worker.app.stateDirectory, worker.settings['output-limit']).catch((error) =>
            fail(worker, error),
          );
        }
      }
      if (mayGather(worker)) worker.settleAfter(batchingOf(worker.app).gatherMs);
      // The round does not start at once, because filling slots inside exit events would starve the timers.
      else setImmediate(worker.loops.work.runNow);
    },
    // After an unexpected error, it is unknown how the attempt ended.
    (error) => fail(worker, error),
  );
}

/** Tells whether settlements may wait for others, because enough claimed jobs wait to fill every slot meanwhile. */
function mayGather({ app, options, turns, ended }: WorkerState): boolean {
  const { aheadPerSlot, reservePerSlot } = batchingOf(app);
  const reserve = Math.max(1, reservePerSlot * options.concurrency);
  return turns.waiting > reserve && ended.length < aheadPerSlot * options.concurrency;
}

/** Returns the time for which a command ran until it exited, or null. */
function runMsOf(finished: EndedAttempt | null): number | null {
  return finished?.outcome.why === 'exited' ? (finished.settlement.durationMs ?? null) : null;
}

export function endAllAttempts(worker: WorkerState, reason: EndReason): void {
  for (const attempt of worker.live.values()) attempt.end(reason);
}

/**
 * Attempts that were claimed ahead should start within `aheadMs`. If one of them has not got a slot after this many times as long, all
 * are given back, so that other workers can take them.
 */
const LONGEST_WAIT_FACTOR = 2;
/** Jobs are claimed ahead while the average time for which the last ones ran is below this. */
const SHORT_RUN_MS = 25;
/** The weight of the last job in the average. */
const WEIGHT = 0.2;

type Ahead = Pick<Batching, 'aheadPerSlot' | 'aheadMs' | 'mostAhead'>;
const NOTHING_AHEAD: Ahead = { aheadPerSlot: 0, aheadMs: SHORT_RUN_MS, mostAhead: 0 };

/**
 * The slots of a worker, and the attempts that wait for one. While all jobs are short, the worker claims a few more than it has
 * slots for. So a job starts as soon as another one ends, and several are settled and claimed in one transaction.
 */
export interface Turns {
  /** The number of attempts that occupy a slot. */
  readonly running: number;
  /** The number of attempts that wait for a slot. */
  readonly waiting: number;
  /** How many jobs may be claimed in addition to those that free slots can take. */
  readonly ahead: number;
  /** Occupies a slot. Resolves to false, and occupies none, if the attempt is to be given back. `onRequest` gets a function that does so. */
  take(onRequest: (giveBack: () => void) => void): Promise<boolean>;
  /** Frees a slot. `runMs` is the time for which its job ran, or null if the job did not run until its end. */
  free(runMs: number | null): void;
  /** Gives back all attempts that wait. */
  giveBackAll(): void;
}

/** Creates turns. The second argument tells how many jobs may be claimed ahead. */
export function createTurns(
  slots: number,
  { aheadPerSlot, aheadMs, mostAhead }: Ahead = NOTHING_AHEAD,
): Turns {
  const line: { since: number; answer(mayStart: boolean): void }[] = [];
  const longestWaitMs = LONGEST_WAIT_FACTOR * aheadMs;
  let running = 0;
  let averageMs = Number.POSITIVE_INFINITY;
  let hasTimer = false;
  const giveBackAll = (): void => {
    averageMs = Number.POSITIVE_INFINITY;
    for (const { answer } of line.splice(0)) answer(false);
  };
  const hasWaitedTooLong = (): boolean =>
    line[0] !== undefined && performance.now() - line[0].since >= longestWaitMs;
  /** Gives back all attempts that wait, as soon as the first of them has waited for too long. */
  const limitWait = (): void => {
    const [first] = line;
    if (first === undefined || hasTimer) return;
    hasTimer = true;
    longTimeout(
      () => {
        hasTimer = false;
        if (hasWaitedTooLong()) giveBackAll();
        else limitWait();
      },
      Math.max(1, Math.ceil(first.since + longestWaitMs - performance.now())),
    );
  };
  const startNext = (): void => {
    if (running >= slots) return;
    // After a freeze, slots may become free before the timer fires.
    if (hasWaitedTooLong()) giveBackAll();
    const next = line.shift();
    if (next === undefined) return;
    running++;
    next.answer(true);
  };
  return {
    get running() {
      return running;
    },
    get waiting() {
      return line.length;
    },
    get ahead() {
      if (averageMs >= SHORT_RUN_MS) return 0;
      const perSlot = Math.min(aheadPerSlot, Math.floor(aheadMs / averageMs));
      return Math.max(0, Math.min(perSlot * slots, Math.max(slots, mostAhead)) - line.length);
    },
    take(onRequest) {
      if (running < slots && line.length === 0) {
        running++;
        return Promise.resolve(true);
      }
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const waiting = { since: performance.now(), answer: resolve };
      line.push(waiting);
      limitWait();
      onRequest(() => {
        const at = line.indexOf(waiting);
        if (at >= 0) line.splice(at, 1)[0]!.answer(false);
      });
      return promise;
    },
    free(runMs) {
      running--;
      if (runMs !== null) averageMs = nextAverage(averageMs, runMs);
      // It does not start at once, because starting jobs inside exit events would starve the timers.
      setImmediate(startNext);
    },
    giveBackAll,
  };
}

function nextAverage(average: number, runMs: number): number {
  return Number.isFinite(average) ? average + WEIGHT * (runMs - average) : Math.max(runMs, 2 * SHORT_RUN_MS);
}

/** The pauses after temporary errors (store busy, disk full, no process can be created) double, from the first to the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
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
        growingPause(pauses++, FIRST_PAUSE_MS, LONGEST_PAUSE_MS),
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
