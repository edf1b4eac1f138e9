import type { ClaimResult } from '../store/contract/claims.ts';
import type { FinishedAttempt } from './attempt.ts';
import { conclude } from './settling.ts';
import { freeSlots, launch, slotsAhead } from './slots.ts';
import type { WorkerState } from './state.ts';
import { longTimeout } from './timer.ts';

/** Settles the attempts that ended and fills the free slots, until there is nothing left to settle or to claim. */
export async function settleAndClaim(worker: WorkerState): Promise<void> {
  const { signals } = worker.app;
  while (!worker.over) {
    const settling = worker.ended.splice(0);
    if (settling.length === 0 && !(freeSlots(worker) > 0 && (await isSomethingDue(worker)))) return;
    const result = await settleAndClaimOnce(worker, settling);
    for (const [i, answer] of result.settled.entries()) conclude(worker, settling[i]!, answer);
    for (const job of result.jobs) launch(worker, job, null);
    if (settling.length === 0 && result.jobs.length === 0) return;
    signals.tellChange();
    // Other workers may take the jobs that the settlements unblocked, or for which they made room within a limit.
    if (result.hasUnblocked || (result.mayHaveMadeRoom && result.jobs.length < settling.length))
      signals.wake();
  }
}

/** Settles and claims in one transaction. If that fails, keeps the settlements for the next try and looks for claimed jobs first. */
async function settleAndClaimOnce(worker: WorkerState, settling: FinishedAttempt[]): Promise<ClaimResult> {
  const { app, id, queues } = worker;
  // The number of free slots is read again, because a stop order may have arrived.
  const [limit, ahead] = [freeSlots(worker), slotsAhead(worker)];
  const settlements = settling.map((one) => one.settlement);
  try {
    return await app.store.claim({ workerId: id, limit, ahead, queues, settlements }, app.clock.now());
  } catch (error) {
    worker.ended.unshift(...settling);
    worker.lostAnswers.possible ||= limit + ahead > 0;
    throw error;
  }
}

/** Tells whether a job is due now. If the next job is due later, sets the timer for it. Otherwise cancels that timer. */
async function isSomethingDue({ app, queues, timers, loops }: WorkerState): Promise<boolean> {
  const now = app.clock.now();
  const due = await app.store.nextDue(queues, now);
  timers.due();
  if (due !== null && due > now) timers.due = longTimeout(loops.work.runNow, due - now);
  return due !== null && due <= now;
}
