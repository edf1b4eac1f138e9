import type { Batching } from '../store/contract/claims.ts';
import { longTimeout } from './timer.ts';

/** An attempt that was claimed ahead is given back if it has not got a slot after this time, so that another worker can take it. */
const LONGEST_WAIT_MS = 50;
/** Jobs are claimed ahead while the average time for which the last ones ran is below this. */
const SHORT_RUN_MS = 25;
/** The weight of the last job in the average. */
const WEIGHT = 0.2;

type Ahead = Pick<Batching, 'aheadPerSlot' | 'aheadMs' | 'mostAhead'>;
const NOTHING_AHEAD: Ahead = { aheadPerSlot: 0, aheadMs: 0, mostAhead: 0 };

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
  const line: ((mayStart: boolean) => void)[] = [];
  let running = 0;
  let averageMs = Number.POSITIVE_INFINITY;
  let cancelTimer = (): void => {};
  const giveBackAll = (): void => {
    averageMs = Number.POSITIVE_INFINITY;
    for (const answer of line.splice(0)) answer(false);
  };
  /** Gives back the attempts that wait if no slot gets free for so long that a job cannot be short. */
  const limitWait = (): void => {
    cancelTimer();
    if (line.length > 0) cancelTimer = longTimeout(giveBackAll, LONGEST_WAIT_MS);
  };
  const startNext = (): void => {
    if (running >= slots) return;
    const answer = line.shift();
    if (answer === undefined) return;
    running++;
    answer(true);
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
      line.push(resolve);
      if (line.length === 1) limitWait();
      onRequest(() => {
        const at = line.indexOf(resolve);
        if (at >= 0) line.splice(at, 1)[0]!(false);
      });
      return promise;
    },
    free(runMs) {
      running--;
      if (runMs !== null) averageMs = nextAverage(averageMs, runMs);
      limitWait();
      // It does not start at once, because starting jobs inside exit events would starve the timers.
      setImmediate(startNext);
    },
    giveBackAll,
  };
}

function nextAverage(average: number, runMs: number): number {
  return Number.isFinite(average) ? average + WEIGHT * (runMs - average) : Math.max(runMs, 2 * SHORT_RUN_MS);
}
