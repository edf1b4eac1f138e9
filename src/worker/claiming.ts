import type { ClaimedJob } from '../core/jobs/job.ts';
import type { ClaimResult, SettleAnswer } from '../store/contract/claims.ts';
import { compareJobs } from '../store/head-rows.ts';
import { clearFiles, type EndedAttempt, giveBack } from './attempt.ts';
import { saveSpace } from './heartbeat.ts';
import { look } from './looking.ts';
import { freeSlots, highestPriority, launch, slotsAhead } from './slots.ts';
import type { WorkerState } from './state.ts';

/**
 * Room within a shared limit is left for the same job of other workers for this long. If none of them has taken it by then, this worker
 * takes the room, and leaves it again later.
 */
const LEAVE_ROOM_MS = 2000;
const LEAVE_AGAIN_MS = 10_000;

/**
 * Settles the attempts that ended and fills the free slots, until there is nothing left to settle or to claim. `isJobDue` is the
 * result of a look in this round, or null if the round has not looked.
 */
export async function settleAndClaim(worker: WorkerState, isJobDue: boolean | null): Promise<void> {
  const { wakeups } = worker.app;
  const hadFreeSlots = freeSlots(worker) > 0;
  let known = isJobDue;
  let claimed = 0;
  while (!worker.over) {
    const settling = worker.ended.splice(0);
    if (settling.length === 0 && !(freeSlots(worker) > 0 && (known ?? (await look(worker))))) break;
    known = null;
    // An ended job may release a waiting tick of its schedule.
    if (settling.length > 0) worker.lookout.lookLater();
    const askedAt = worker.app.clock.monotonic();
    const result = await settleAndClaimOnce(worker, settling);
    if (result.wasBusy) return worker.wakeUps.lookWasRefused(claimed > 0);
    for (const [i, answer] of result.settled.entries()) conclude(worker, settling[i]!, answer);
    for (const job of result.jobs) launchOrGiveBack(worker, job, askedAt);
    claimed += result.jobs.length;
    if (settling.length === 0 && result.jobs.length === 0) break;
    wakeups.tellChange();
    // Other workers may take the jobs that were given back or unblocked, or for which the settlements made room within a limit.
    const isRoomLeft = settling.length > 0 && worker.leftRoomFor !== null;
    const hasMadeRoom = isRoomLeft || (result.mayHaveMadeRoom && result.jobs.length < settling.length);
    if (result.hasUnblocked || hasMadeRoom || settling.some((one) => one.givenBack)) wakeups.wake();
  }
  if (hadFreeSlots) worker.wakeUps.lookEnded(claimed > 0);
}

/** Starts a claimed job. If a stop order has arrived during the claim, the job goes back to its queue in the next round. */
function launchOrGiveBack(worker: WorkerState, job: ClaimedJob, heldAt: number): void {
  if (worker.order === null) launch(worker, job, null, heldAt);
  else worker.ended.push(giveBack(worker, job));
}

/** Settles and claims in one transaction. If that fails, keeps the settlements for the next try and looks for claimed jobs first. */
async function settleAndClaimOnce(worker: WorkerState, settling: EndedAttempt[]): Promise<ClaimResult> {
  const { app, id, queues } = worker;
  saveSpace(worker);
  // The number of free slots is read again, because a stop order may have arrived.
  const [limit, ahead] = [freeSlots(worker), slotsAhead(worker)];
  const settlements = settling.map((one) => one.settlement);
  // Without a settlement, a worker that waited for other writers would often find that another worker has taken the job.
  const ifFree = settlements.length === 0;
  try {
    if (worker.sharing !== null) await worker.sharing.shareRest(settling, worker.settings['shared-output']);
    const aheadPriority = highestPriority(worker);
    const { leftRoomFor, leavesRoomSince } = worker;
    const leavesRoom =
      leftRoomFor === null || (app.clock.monotonic() - leavesRoomSince) % LEAVE_AGAIN_MS < LEAVE_ROOM_MS;
    const more = { leavesRoom, settlements, ifFree };
    const request = { workerId: id, limit, ahead, aheadPriority, queues, ...more };
    const result = await app.store.claim(request, app.clock.now());
    noteLeftRoom(worker, result);
    return result;
  } catch (error) {
    worker.ended.unshift(...settling);
    worker.lostAnswers.possible ||= limit + ahead > 0; // fault-control: lost-claims
    throw error;
  }
}

function noteLeftRoom(worker: WorkerState, { leftRoomFor = null }: ClaimResult): void {
  const last = worker.leftRoomFor;
  // If a more urgent job has come before the last one, nobody has started that one yet.
  const isNext = last === null || leftRoomFor === null || compareJobs(leftRoomFor, last) > 0;
  if (isNext) worker.leavesRoomSince = worker.app.clock.monotonic();
  worker.leftRoomFor = leftRoomFor;
  if (leftRoomFor !== null) worker.settleAfter(LEAVE_ROOM_MS);
}

/** Finishes a settled attempt: removes its files, wakes other workers for its hooks, and emits the event. A lost claim only emits. */
function conclude(worker: WorkerState, finished: EndedAttempt, answer: SettleAnswer): void {
  const { app, emit, throttle } = worker;
  const { job, outcome, settlement } = finished;
  if (answer === 'lost') {
    emit({ type: 'claim-lost', job });
    return;
  }
  if (outcome.why !== 'never-started') throttle.resetPauses();
  clearFiles(finished);
  // Other workers are woken, because this one may be leaving or have too few free slots.
  if (settlement.hooks.length > 0) app.wakeups.wake();
  const { transition, finishedAt, error } = settlement;
  const durationMs = settlement.durationMs ?? Math.max(0, finishedAt - (job.startedAt ?? finishedAt));
  emit({ type: 'attempt-settled', job, outcome, transition, durationMs, error });
}
