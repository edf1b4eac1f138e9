import { tellChange, wake } from '../state/wake.ts';
import type { ClaimResult } from '../store/contract/claims.ts';
import type { FinishedAttempt } from './attempt.ts';
import { conclude } from './settling.ts';
import { freeSlots, launch } from './slots.ts';
import type { WorkerState } from './state.ts';
import { obeyOrders } from './stopping.ts';
import { longTimeout } from './timer.ts';

/** Settles the attempts that ended, obeys orders and fills the free slots, until there is nothing left to settle or to claim. */
export async function settleAndClaim(worker: WorkerState): Promise<void> {
  const { stateDirectory } = worker.app;
  const hadFreeSlots = freeSlots(worker) > 0;
  let claimed = 0;
  while (!worker.over) {
    const settling = worker.ended.splice(0);
    if (settling.length === 0 && !(await canClaim(worker))) break;
    const result = await settleAndClaimOnce(worker, settling);
    if (result.wasBusy) return worker.wakeUps.lookWasRefused(worker.recovery.otherWorkers);
    for (const [i, answer] of result.settled.entries()) conclude(worker, settling[i]!, answer);
    for (const job of result.jobs) launch(worker, job, null);
    claimed += result.jobs.length;
    if (settling.length === 0 && result.jobs.length === 0) break;
    tellChange(stateDirectory);
    // Other workers may take the jobs that the settlements unblocked, or for which they made room within a limit.
    if (result.hasUnblocked || (result.mayHaveMadeRoom && result.jobs.length < settling.length))
      wake(stateDirectory);
  }
  if (hadFreeSlots) worker.wakeUps.lookEnded(claimed > 0);
}

/** Settles and claims in one transaction. If that fails, keeps the settlements for the next try. */
async function settleAndClaimOnce(worker: WorkerState, settling: FinishedAttempt[]): Promise<ClaimResult> {
  const { app, id, queues } = worker;
  // The number of free slots is read again, because a stop order may have arrived.
  const limit = freeSlots(worker);
  const settlements = settling.map((one) => one.settlement);
  // Without a settlement, a worker that waited for other writers would often find that another worker has taken the job.
  const ifFree = settlements.length === 0;
  try {
    return await app.store.claim({ workerId: id, limit, queues, settlements, ifFree }, app.clock.now());
  } catch (error) {
    worker.ended.unshift(...settling);
    throw error;
  }
}

/** Reads the agenda, obeys the orders in it and sets the timer for the next due job. Tells whether a job can be claimed now. */
async function canClaim(worker: WorkerState): Promise<boolean> {
  const { app, id, queues, timers, loops } = worker;
  const now = app.clock.now();
  const agenda = await app.store.agenda(id, freeSlots(worker) > 0 ? queues : [], now);
  const { nextDue, nextTick } = agenda;
  worker.nextTick = nextTick;
  timers.due();
  if (nextDue !== null && nextDue > now) timers.due = longTimeout(loops.work.runNow, nextDue - now);
  obeyOrders(worker, agenda);
  return nextDue !== null && nextDue <= now && freeSlots(worker) > 0;
}
