import type { Batching } from '../store/contract/claims.ts';
import { longTimeout } from './timer.ts';

/**
 * Attempts that were claimed ahead should start within `aheadMs`. If one of them has not got a slot after this many times as long, all
 * are given back, so that other workers can take them.
 */
const LONGEST_WAIT = 2;
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
  const longestWaitMs = LONGEST_WAIT * aheadMs;
  let running = 0;
  let averageMs = Number.POSITIVE_INFINITY;
  let hasTimer = false;
  const giveBackAll = (): void => {
    averageMs = Number.POSITIVE_INFINITY;
    for (const { answer } of line.splice(0)) answer(false);
  };
  /** Gives back all attempts that wait, as soon as the first of them has waited for too long. */
  const limitWait = (): void => {
    const [first] = line;
    if (first === undefined || hasTimer) return;
    hasTimer = true;
    longTimeout(
      () => {
        hasTimer = false;
        if (line[0] !== undefined && performance.now() - line[0].since >= longestWaitMs) giveBackAll();
        else limitWait();
      },
      Math.max(1, Math.ceil(first.since + longestWaitMs - performance.now())),
    );
  };
  const startNext = (): void => {
    if (running >= slots) return;
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
