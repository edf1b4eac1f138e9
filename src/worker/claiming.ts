import type { ClaimedJob } from '../core/job.ts';
import type { ClaimResult } from '../store/contract/claims.ts';
import type { FinishedAttempt } from './attempt.ts';
import { giveBack } from './deciding.ts';
import { look } from './looking.ts';
import { conclude } from './settling.ts';
import { freeSlots, highestPriority, launch, slotsAhead } from './slots.ts';
import type { WorkerState } from './state.ts';

/**
 * Settles the attempts that ended and fills the free slots, until there is nothing left to settle or to claim. `isJobDue` is the
 * result of a look in this round, or null if the round has not looked.
 */
export async function settleAndClaim(worker: WorkerState, isJobDue: boolean | null): Promise<void> {
  const { signals } = worker.app;
  const hadFreeSlots = freeSlots(worker) > 0;
  let known = isJobDue;
  let claimed = 0;
  while (!worker.over) {
    const settling = worker.ended.splice(0);
    if (settling.length === 0 && !(freeSlots(worker) > 0 && (known ?? (await look(worker))))) break;
    known = null;
    // An ended job may release a waiting tick of its schedule.
    if (settling.length > 0) worker.lookout.lookLater();
    const result = await settleAndClaimOnce(worker, settling);
    if (result.wasBusy) return worker.wakeUps.lookWasRefused(claimed > 0);
    for (const [i, answer] of result.settled.entries()) conclude(worker, settling[i]!, answer);
    for (const job of result.jobs) launchOrGiveBack(worker, job);
    claimed += result.jobs.length;
    if (settling.length === 0 && result.jobs.length === 0) break;
    signals.tellChange();
    // Other workers may take the jobs that were given back or unblocked, or for which the settlements made room within a limit.
    const hasMadeRoom = result.mayHaveMadeRoom && result.jobs.length < settling.length;
    if (result.hasUnblocked || hasMadeRoom || settling.some((one) => one.givenBack)) signals.wake();
  }
  if (hadFreeSlots) worker.wakeUps.lookEnded(claimed > 0);
}

/** Starts a claimed job. If a stop order has arrived during the claim, the job goes back to its queue in the next round. */
function launchOrGiveBack(worker: WorkerState, job: ClaimedJob): void {
  if (worker.order === null) launch(worker, job, null);
  else worker.ended.push(giveBack(worker, job));
}

/** Settles and claims in one transaction. If that fails, keeps the settlements for the next try and looks for claimed jobs first. */
async function settleAndClaimOnce(worker: WorkerState, settling: FinishedAttempt[]): Promise<ClaimResult> {
  const { app, id, queues, offers } = worker;
  // The number of free slots is read again, because a stop order may have arrived.
  const [limit, ahead] = [freeSlots(worker), slotsAhead(worker)];
  const settlements = settling.map((one) => one.settlement);
  // Without a settlement, a worker that waited for other writers would often find that another worker has taken the job.
  const ifFree = settlements.length === 0;
  try {
    if (worker.sharing !== null) await worker.sharing.shareRest(settling, worker.settings['shared-output']);
    const aheadPriority = highestPriority(worker);
    const request = { workerId: id, limit, ahead, aheadPriority, queues, offers, settlements, ifFree };
    return await app.store.claim(request, app.clock.now());
  } catch (error) {
    worker.ended.unshift(...settling);
    worker.lostAnswers.possible ||= limit + ahead > 0; // fault-control: lost-claims
    throw error;
  }
}
