import type { App } from '../actions/app.ts';
import type { ClaimedJob, EndReason } from '../core/job.ts';
import { trimAllAttempts } from '../exec/trim.ts';
import type { Batching } from '../store/contract/claims.ts';
import { type Adoption, type FinishedAttempt, runAttempt } from './attempt.ts';
import { fail } from './closing.ts';
import type { WorkerState } from './state.ts';

/** For a store with cheap transactions. */
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
  const { order, throttle, options, turns, mayStart } = worker;
  if (order !== null || throttle.paused || !mayStart) return 0;
  return Math.max(0, throttle.slots(options.concurrency) - turns.running - turns.waiting);
}

/** Returns how many more jobs may be claimed ahead. */
export function slotsAhead({ order, throttle, options, turns, mayStart }: WorkerState): number {
  const mayUseAll = !throttle.paused && throttle.slots(options.concurrency) === options.concurrency;
  return order === null && mayStart && mayUseAll ? turns.ahead : 0;
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

/** Starts to run an attempt. When it has ended, a later round settles it and fills its slot again. */
export function launch(worker: WorkerState, job: ClaimedJob, adoption: Adoption | null): void {
  const attempt = runAttempt(worker, job, adoption);
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

/** Tells whether settlements may wait for others. So many claimed jobs wait for a slot then that none stays empty. */
function mayGather({ app, options, turns, ended }: WorkerState): boolean {
  const { aheadPerSlot, reservePerSlot } = batchingOf(app);
  const reserve = Math.max(1, reservePerSlot * options.concurrency);
  return turns.waiting > reserve && ended.length < aheadPerSlot * options.concurrency;
}

/** Returns the time for which a command ran until it exited, or null. */
function runMsOf(finished: FinishedAttempt | null): number | null {
  return finished?.outcome.why === 'exited' ? (finished.settlement.durationMs ?? null) : null;
}

export function endAllAttempts(worker: WorkerState, reason: EndReason): void {
  for (const attempt of worker.live.values()) attempt.end(reason);
}
