import { presence } from '../actions/workers.ts';
import { isSameBoot } from '../state/host.ts';
import { close } from './closing.ts';
import { describeJobsLeft } from './jobs-left.ts';
import { hasOrphans } from './liveness.ts';
import { takeUpOwnClaims } from './lost-answers.ts';
import type { WorkerState } from './state.ts';
import { isTemporary } from './temporary-errors.ts';

/**
 * Ends a worker that has a stop order, or that drains and is idle, if no job would be left without a worker. The order `leave`
 * ends it in any case. Other workers may hand over jobs to it until the store shows that it is leaving. So a heartbeat first
 * stores that and checks once more for such jobs.
 */
export async function leaveWhenDone(worker: WorkerState): Promise<void> {
  if (worker.over || worker.ended.length > 0) return;
  if (worker.order === 'leave') return unregister(worker, null);
  let jobsLeft: string | null = null;
  if (worker.order === null) {
    const mayBeIdle = worker.options.drain && worker.live.size === 0;
    jobsLeft = mayBeIdle ? await describeJobsLeft(worker.app, worker.queues, worker.offers) : null;
    worker.idle = jobsLeft !== null;
    if (!worker.idle) return;
  }
  if (!worker.lastCheckDone) return worker.loops.beat.runNow(); // fault-control: last-look
  if (
    worker.live.size === 0 ||
    (worker.order === 'drain' && worker.turns.running === 0 && (await handOver(worker)))
  )
    await unregister(worker, jobsLeft);
}

/** Hands adopted jobs over to the other workers of this machine that keep running. Returns false if there are none. */
async function handOver(worker: WorkerState): Promise<boolean> {
  const { app, id, host, options } = worker;
  const heirs = (await app.store.workers()).filter(
    (one) =>
      !(worker.siblingsStop && one.supervisor === options.supervisor) && // fault-control: siblings
      one.id !== id &&
      presence(one, host) === 'alive',
  );
  const ids = heirs.map((one) => one.id);
  return ids.length > 0 && app.store.handOver(id, ids);
}

/** Ends the worker, and unregisters it unless it still holds jobs. The last worker of this host also removes the stop file. */
async function unregister(worker: WorkerState, jobsLeft: string | null): Promise<void> {
  if (worker.over) return;
  close(worker);
  const { app, id, host, stopFile } = worker;
  try {
    await app.store.unregister(id); // fault-control: unregister
    app.signals.tellChange();
    // Other workers with --drain may have waited only for the last jobs of this one.
    if (worker.order === null) app.signals.wake();
    const others = await app.store.workers();
    if (!others.some((one) => isSameBoot(one.host, host))) stopFile.remove();
  } catch (error) {
    // A temporary error is ignored, because the other workers notice that this one is gone.
    if (!isTemporary(error)) return worker.end.reject(error);
  }
  worker.emit({ type: 'worker-stopped', workerId: id, left: jobsLeft });
  worker.end.resolve();
}

/** Ends a worker without running attempts if the store cannot be written. The next worker settles its attempts by their exit codes on disk. */
export async function leaveWithoutStore(worker: WorkerState): Promise<void> {
  if (worker.over || worker.live.size > 0) return;
  // A job whose claim was committed although it failed is put back, if the store works again.
  if (worker.lostAnswers.possible && (await takeUpOwnClaims(worker).catch(() => 0)) > 0) return;
  // The store may still be readable. With a drain order, a job must not be left without a worker.
  if (worker.order === 'drain' && (await hasOrphans(worker.app, worker.host).catch(() => false))) return;
  close(worker);
  worker.end.resolve();
}
