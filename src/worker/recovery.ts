import type { ClaimedJob } from '../core/job.ts';
import { isOutOfSight } from '../exec/lifeline.ts';
import { placeOfAttempt } from '../state/place.ts';
import type { Worker } from '../store/contract/workers.ts';
import type { Adoption } from './attempt.ts';
import { forgetUnregistered, isGone, observerClock, type SeenHeartbeats } from './liveness.ts';
import { endAllAttempts, launch } from './slots.ts';
import type { WorkerState } from './state.ts';

/** The state of recovery between two heartbeats. */
export interface Recovery {
  readonly seen: SeenHeartbeats;
  readonly clock: ReturnType<typeof observerClock>;
  /** The numbers of the attempts that were reported as invisible from this pid namespace. Each is reported once. */
  readonly reportedUnseen: Set<number>;
  /** How many other workers were alive at the last heartbeat. */
  otherWorkers: number;
}

export function newRecovery(): Recovery {
  return { seen: new Map(), clock: observerClock(), reportedUnseen: new Set(), otherWorkers: 0 };
}

/** Takes over the running jobs of workers that are gone, and unregisters those workers. Returns how many jobs it took over. */
export async function recover(worker: WorkerState): Promise<number> {
  const { app, host, recovery } = worker;
  const leaseMs = worker.settings.lease;
  const now = recovery.clock(app.clock.monotonic(), leaseMs);
  // The jobs are read first. Their workers were registered then, so a worker that is missing in the later read is gone.
  const running = await app.store.runningJobs(); // fault-control: recovered-jobs
  const workers = await app.store.workers();
  const others = workers.filter((one) => one.id !== worker.id);
  const observer = { host, leaseMs, seen: recovery.seen, manyHosts: app.store.manyHosts === true };
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
  for (const one of gone) await app.store.unregister(one.id);
  if (adopted > 0) app.signals.tellChange();
  return adopted;
}

/** Takes over one job. Returns false if another worker has taken it, or if it is invisible from this pid namespace. */
async function adopt(worker: WorkerState, job: ClaimedJob, former: Worker | undefined): Promise<boolean> {
  const { app, emit, host, lostAnswers, recovery } = worker;
  const { attempt } = job.claim;
  // A job in a pid namespace that this worker cannot see is left to a worker of that namespace.
  if (job.otherHost === null && isOutOfSight(placeOfAttempt(app, attempt))) {
    if (!recovery.reportedUnseen.has(attempt)) emit({ type: 'attempt-unseen', job });
    recovery.reportedUnseen.add(attempt);
    return false;
  }
  const adoption = {
    rebooted: former?.host.id === host.id && former.host.boot !== host.boot,
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
  await runAdopted(worker, adopted, adoption);
  return true;
}

/** Finds out what became of an attempt that this worker has adopted, and waits for its end. */
export async function runAdopted(
  worker: WorkerState,
  job: ClaimedJob,
  adoption: Omit<Adoption, 'seal'>,
): Promise<void> {
  const seal = await worker.app.store.seal();
  worker.emit({ type: 'attempt-adopted', job });
  launch(worker, job, { ...adoption, seal });
  if (worker.order === 'force') endAllAttempts(worker, 'stopped');
}
