import { type App, currentSettings } from '../actions/app.ts';
import {
  forgetUnregistered,
  isGone,
  observerClock,
  type SeenHeartbeats,
} from '../actions/workers/workers.ts';
import type { ClaimedJob } from '../core/jobs/job.ts';
import { pause } from '../core/time/clock.ts';
import { endProcesses, targetOf } from '../exec/kill.ts';
import { isOutOfSight } from '../exec/lifeline.ts';
import { processes } from '../exec/processes.ts';
import { unfinishedAttempts } from '../exec/running-commands.ts';
import { type AttemptFiles, attemptOf, filesOfAttempt } from '../state/attempt-files.ts';
import { type Host, isSameBoot, knownHost, refuseForeignProc } from '../state/host.ts';
import type { Worker } from '../store/contract/workers.ts';
import { clearFiles, giveBack, runAttempt } from './attempt.ts';
import { endAllAttempts, freeSlots, isKnown, launch } from './slots.ts';
import type { Adoption, WorkerState } from './state.ts';

/** The state of recovery between two heartbeats. */
export interface Recovery {
  readonly seen: SeenHeartbeats;
  readonly clock: ReturnType<typeof observerClock>;
  /** The numbers of the attempts that were reported as invisible from this pid namespace. Each is reported once. */
  readonly reportedUnseen: Set<number>;
  /** The last heartbeats of workers of other boots with the id of this host, by worker id. */
  otherBoots: Map<string, number>;
  /** Whether it was reported that another machine has the id of this host. */
  isCopyReported: boolean;
  /** How many other workers were alive at the last heartbeat. */
  otherWorkers: number;
}

export function newRecovery(): Recovery {
  return {
    seen: new Map(),
    clock: observerClock(),
    reportedUnseen: new Set(),
    otherBoots: new Map(),
    isCopyReported: false,
    otherWorkers: 0,
  };
}

/** Takes over the running jobs of workers that are gone, and unregisters those workers. Returns how many jobs it took over. */
export async function recover(worker: WorkerState): Promise<number> {
  const { app, host, recovery } = worker;
  const leaseMs = worker.settings.lease;
  const now = recovery.clock(app.clock.monotonic(), leaseMs);
  // The jobs are read first. Their workers were registered then, so a worker that is missing in the later read is gone.
  const running = await app.store.runningJobs(); // fault-control: recovered-jobs
  lookForLostResults(worker, running);
  const workers = await app.store.workers();
  const others = workers.filter((one) => one.id !== worker.id);
  const observer = { host, leaseMs, seen: recovery.seen, manyHosts: app.store.manyHosts === true };
  reportCopy(worker, others);
  const gone = others.filter((one) => isGone(one, observer, now));
  forgetUnregistered(recovery.seen, others);

  const alive = new Set(workers.filter((one) => !gone.includes(one)).map((one) => one.id));
  recovery.otherWorkers = others.length - gone.length;
  let adopted = 0;
  for (const job of running) {
    if (job.workerId === null || alive.has(job.workerId)) continue;
    const formerWorker = workers.find((one) => one.id === job.workerId);
    if (!(await adopt(worker, job, formerWorker))) continue;
    adopted++;
    // The worker can settle this attempt, if it has ended, before it takes over the next one. So even workers that die soon
    // make progress.
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const one of gone) {
    await app.store.unregister(one.id);
    // Its boot had a lease when the supervisor of this worker removed the dead supervisors, so its supervisor was left. If that lives
    // on a copy of this machine, it registers again.
    const isLast = !others.some((other) => other.supervisor === one.supervisor && !gone.includes(other));
    if (isLast && isOtherBoot(one.host, host)) await app.store.unregisterSupervisor(one.supervisor);
  }
  if (adopted > 0) app.wakeups.tellChange();
  return adopted;
}

/**
 * Lets the next round take up the jobs that this worker holds without knowing it. A failover that was too short to be noticed may have
 * lost their results. The round reads them again, because a claim or a settlement may be under way now.
 */
function lookForLostResults(worker: WorkerState, running: ClaimedJob[]): void {
  if (!running.some((job) => job.workerId === worker.id && !isKnown(worker, job))) return;
  worker.lostAnswers.possible = true; // fault-control: unnoticed-results
  worker.loops.work.runNow();
}

const isOtherBoot = (one: Host, host: Host): boolean => one.id === host.id && one.boot !== host.boot;

/** Reports once that two machines have the same id. A worker whose heartbeat goes on is not one from before a reboot. */
function reportCopy({ app, emit, host, id, recovery }: WorkerState, others: Worker[]): void {
  const same = others.filter((one) => isOtherBoot(one.host, host));
  const copy = same.find((one) => (recovery.otherBoots.get(one.id) ?? one.beat) !== one.beat);
  recovery.otherBoots = new Map(same.map((one) => [one.id, one.beat]));
  if (copy === undefined || recovery.isCopyReported) return;
  recovery.isCopyReported = true;
  const message = `${copy.hostname} runs workers with the host id of this machine, so one of the two is a copy of the other; on the copy, stop the workers and remove ${app.stateDirectory.host}`;
  emit({ type: 'worker-error', workerId: id, message });
}

/** Takes over one job. Returns false if another worker has taken it, or if it is invisible from this pid namespace. */
async function adopt(worker: WorkerState, job: ClaimedJob, former: Worker | undefined): Promise<boolean> {
  const { app, emit, host, lostAnswers, recovery } = worker;
  const { attempt } = job.claim;
  // A job in a pid namespace that this worker cannot see is left to a worker of that namespace.
  if (job.otherHost === null && isOutOfSight(filesOfAttempt(app, attempt))) {
    if (!recovery.reportedUnseen.has(attempt)) emit({ type: 'attempt-unseen', job });
    recovery.reportedUnseen.add(attempt);
    return false;
  }
  const adoption = {
    isElsewhere: former !== undefined && !isSameBoot(former.host, host),
    stopping: former !== undefined && (former.draining || former.order !== null),
  };
  let adopted: ClaimedJob | null;
  try {
    adopted = await app.store.adopt(job.claim, worker.id);
  } catch (error) {
    lostAnswers.adoptions.set(attempt, adoption);
    lostAnswers.possible = true;
    throw error;
  }
  if (adopted === null) return false;
  runAdopted(worker, adopted, adoption);
  return true;
}

/** Finds out what became of an attempt that this worker has adopted, and waits for its end. */
function runAdopted(worker: WorkerState, job: ClaimedJob, adoption: Adoption): void {
  worker.emit({ type: 'attempt-adopted', job });
  launch(worker, job, adoption);
  if (worker.order === 'force') endAllAttempts(worker, 'stopped');
}

/** The claims and adoptions of a worker that failed. Each may have been committed before its answer got lost. */
export interface LostAnswers {
  /** Whether a claim or an adoption has failed, or the store was away, since this worker last looked for the jobs that it holds. */
  possible: boolean;
  /** The circumstances of each adoption that failed, by the number of the attempt. */
  readonly adoptions: Map<number, Adoption>;
}

export function noLostAnswers(): LostAnswers {
  return { possible: false, adoptions: new Map() };
}

/**
 * Takes up the jobs that this worker holds without knowing it, because the answer to a claim or an adoption got lost, or because a
 * failover has lost a result. No other worker would run them, because this one is alive. Returns how many there were.
 */
export async function takeUpOwnClaims(worker: WorkerState): Promise<number> {
  const { app, id, lostAnswers, order, throttle } = worker;
  if (worker.over || (throttle.paused && order === null)) return 0;
  const askedAt = app.clock.monotonic();
  const unknown = (await app.store.mine(id)).filter((job) => !isKnown(worker, job));
  for (const job of unknown) takeUp(worker, job, askedAt);
  lostAnswers.adoptions.clear();
  lostAnswers.possible = false;
  return unknown.length;
}

/** Continues an adoption, or starts a claimed job. If there is no slot for the job any more, it goes back to its queue. */
function takeUp(worker: WorkerState, job: ClaimedJob, heldAt: number): void {
  const adoption = worker.lostAnswers.adoptions.get(job.claim.attempt);
  if (adoption !== undefined) runAdopted(worker, job, adoption);
  else if (freeSlots(worker) > 0) launch(worker, job, null, heldAt);
  else worker.ended.push(giveBack(worker, job));
}

/**
 * Ends the commands on this host whose attempts are over in the store, because another host has taken over their jobs. The guard has
 * ended them in time, unless this host was frozen together with it.
 */
export async function endStrays(app: App, graceMs: number): Promise<void> {
  const runsHere = ({ cookie }: AttemptFiles): boolean => processes.frameOf(cookie) !== null;
  const isOfStore = ({ name }: AttemptFiles): boolean => attemptOf(name)?.epoch === app.store.epoch;
  const attempts = unfinishedAttempts(app.stateDirectory, new Set()).filter(
    (files) => isOfStore(files) && runsHere(files),
  );
  if (attempts.length === 0) return;
  const running = new Set((await app.store.runningJobs()).map((job) => job.claim.attempt));
  // An attempt is settled only after its frame has ended. So a frame that still runs is not of one that was settled meanwhile.
  const strays = attempts.filter((files) => !running.has(attemptOf(files.name)!.attempt) && runsHere(files));
  await Promise.all(strays.map((files) => endProcesses(targetOf(files), graceMs)));
}

import { createSharing } from './output.ts';
import { createTurns } from './slots.ts';

const POLL_MS = 50;
/** A wait that takes longer than this is reported. */
const SLOW_MS = 1000;

/**
 * Waits until running jobs have ended after a cancel request. Takes over, ends and settles a job whose worker is gone, so that
 * a cancel works without a worker. A job of another host is taken over after the lease of its worker, by the clock of the store.
 * Does not wait for a job that has lost its worker and runs in another pid namespace.
 * Calls `onSlow` once, with the jobs of other hosts, if the wait for them takes long. Returns the ids of the jobs that are now cancelled.
 */
export async function untilEnded(
  app: App,
  ids: string[],
  onSlow?: (jobs: ClaimedJob[]) => Promise<void>,
): Promise<string[]> {
  if (ids.length === 0) return [];
  const waitingFor = new Set(ids);
  const { lease } = await currentSettings(app);
  const observer = {
    ...{ host: knownHost(app.stateDirectory), leaseMs: lease, seen: new Map() as SeenHeartbeats },
    manyHosts: app.store.manyHosts === true,
  };
  const slowAt = app.clock.monotonic() + SLOW_MS;
  let isReported = onSlow === undefined;
  for (;;) {
    const running = (await app.store.runningJobs()).filter((job) => waitingFor.has(job.id));
    for (const id of waitingFor) if (!running.some((job) => job.id === id)) waitingFor.delete(id);
    if (waitingFor.size === 0) break;
    if (!isReported && app.clock.monotonic() > slowAt) {
      isReported = true;
      await onSlow?.(running.filter((job) => job.otherHost !== null));
    }
    const workers = await app.store.workers();
    const now = app.clock.monotonic();
    const alive = new Set(workers.filter((one) => !isGone(one, observer, now)).map((worker) => worker.id));
    const leased = new Set(workers.filter((one) => one.hasLease).map((worker) => worker.id));
    for (const job of running) {
      const inCharge = job.otherHost === null ? alive : leased;
      if (job.workerId === null || inCharge.has(job.workerId)) continue;
      const files = filesOfAttempt(app, job.claim.attempt);
      if (job.otherHost === null && isOutOfSight(files)) waitingFor.delete(job.id);
      else await adoptAndEnd(app, job);
    }
    await pause(POLL_MS);
  }
  const cancelled: string[] = [];
  for (const id of ids) if ((await app.store.get(id))?.state === 'cancelled') cancelled.push(id);
  return cancelled;
}

/** Adopts a job that is to be ended, waits for its end and settles it. Does nothing if another process has adopted it. */
async function adoptAndEnd(app: App, { claim, otherHost }: ClaimedJob): Promise<void> {
  if (otherHost === null) refuseForeignProc();
  const job = await app.store.adopt(claim, `${process.pid}-cancel`);
  if (job === null) return;
  const context = {
    app,
    settings: await currentSettings(app),
    userSettings: { umask: 0o077, openFileLimit: null },
    lifeline: null,
    lease: null,
    emit: () => {},
    turns: createTurns(1),
    order: null,
    recentSignals: 0,
  };
  const finished = await runAttempt(context, job, { isElsewhere: false, stopping: false }).done;
  if (finished === null) return;
  await createSharing(app)?.shareRest([finished], context.settings['shared-output']);
  if ((await app.store.settle(finished.settlement)) === 'lost') return;
  clearFiles(finished);
  app.wakeups.wake();
}
