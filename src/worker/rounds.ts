import type { App } from '../actions/app.ts';
import type { ClaimedJob } from '../core/jobs/job.ts';
import { growingPause } from '../core/time/clock.ts';
import { isBallastFreed } from '../state/ballast.ts';
import { compareJobs } from '../store/claim-order.ts';
import type { ClaimResult, SettleAnswer } from '../store/contract/claims.ts';
import { clearFiles, giveBack } from './attempt.ts';
import { longTimeout, onceAfter } from './loops.ts';
import { takeUpOwnClaims } from './recovery.ts';
import { fireSchedules } from './schedules.ts';
import { freeSlots, highestPriority, launch, slotsAhead } from './slots.ts';
import type { EndedAttempt, WorkerState } from './state.ts';
import { leaveWhenDone, obeyOrders } from './stopping.ts';

/**
 * Room within a shared limit is left for the same job of other workers for this long. If none of them has taken it by then, this worker
 * takes the room, and leaves it again later.
 */
const LEAVE_ROOM_MS = 2000;
const LEAVE_AGAIN_MS = 10_000;

/** Runs one round: obeys orders, settles and claims jobs, fires schedules, and leaves if the worker is to stop. */
export async function workOnce(worker: WorkerState): Promise<void> {
  worker.mayStart = worker.lease?.mayStart() ?? true;
  let isJobDue = worker.lookout.isDue() ? await look(worker) : null;
  // A heartbeat must not adopt a job meanwhile, because the job would look like one with a lost answer.
  if (worker.lostAnswers.possible) await worker.exclusively(() => takeUpOwnClaims(worker));
  do {
    await settleAndClaim(worker, isJobDue);
    isJobDue = null;
  } while (await fireSchedules(worker));
  if (worker.order !== null || (worker.options.drain && worker.live.size === 0))
    await worker.exclusively(() => leaveWhenDone(worker));
  else worker.idle = false;
}

/**
 * Reads the agenda of the worker, obeys the orders in it, and notes when the next job and the next tick are due. Returns whether
 * a job can be claimed now. A worker without a free slot does not look for jobs.
 */
async function look(worker: WorkerState): Promise<boolean> {
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
 * Settles the attempts that ended and fills the free slots, until there is nothing left to settle or to claim. `isJobDue` is the
 * result of a look in this round, or null if the round has not looked.
 */
async function settleAndClaim(worker: WorkerState, isJobDue: boolean | null): Promise<void> {
  const { wakeups } = worker.app;
  const hadFreeSlots = freeSlots(worker) > 0;
  let known = isJobDue;
  let claimed = 0;
  while (!worker.over) {
    const settling = worker.ended.splice(0);
    if (settling.length === 0 && !(freeSlots(worker) > 0 && (known ?? (await look(worker))))) break;
    known = null;
    const askedAt = worker.app.clock.monotonic();
    const result = await settleAndClaimOnce(worker, settling);
    // An ended job may release a waiting tick of its schedule. After a failure, the worker makes a longer pause.
    if (settling.length > 0) worker.lookout.lookLater();
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

/** Makes the worker claim no jobs while the ballast is freed, so that the space is left for results. Returns whether it is. */
export function saveSpace(worker: WorkerState): boolean {
  const { app, id, savesSpace } = worker;
  worker.savesSpace = isBallastFreed(app.stateDirectory);
  if (worker.savesSpace && !savesSpace) {
    const message = 'the disk is almost full; no more jobs start until there is space for the reserve';
    worker.emit({ type: 'worker-error', workerId: id, message });
  }
  return worker.savesSpace;
}

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
