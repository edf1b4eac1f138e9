import type { ClaimedJob, EndReason } from '../core/job.ts';
import { type Adoption, runAttempt } from './attempt.ts';
import { fail } from './closing.ts';
import type { WorkerState } from './state.ts';

/** Returns how many jobs may be claimed now. */
export function freeSlots(worker: WorkerState): number {
  const { order, throttle, options } = worker;
  return order !== null || throttle.paused ? 0 : throttle.slots(options.concurrency) - usedSlots(worker);
}

/** Counts the attempts that occupy a slot. Adopted attempts occupy none. */
export function usedSlots({ live }: WorkerState): number {
  let count = 0;
  for (const attempt of live.values()) if (!attempt.adopted) count++;
  return count;
}

/** Starts to run an attempt. When it has ended, the next round settles it and fills its slot again. */
export function launch(worker: WorkerState, job: ClaimedJob, adoption: Adoption | null): void {
  const attempt = runAttempt(worker, job, adoption);
  worker.live.set(job.claim.attempt, attempt);
  // Without a running attempt, this loop pauses.
  if (worker.live.size === 1) worker.loops.trim.start();
  attempt.done.then(
    (finished) => {
      worker.live.delete(job.claim.attempt);
      if (finished === null) worker.emit({ type: 'claim-lost', job });
      else {
        worker.ended.push(finished);
        if (finished.outcome.why === 'never-started' && !finished.adopted)
          worker.throttle.limitSlots(usedSlots(worker));
      }
      // The round does not start at once, because filling slots inside exit events would starve the timers.
      setImmediate(worker.loops.work.runNow);
    },
    // After an unexpected error, it is unknown how the attempt ended.
    (error) => fail(worker, error),
  );
}

export function endAllAttempts(worker: WorkerState, reason: EndReason): void {
  for (const attempt of worker.live.values()) attempt.end(reason);
}
