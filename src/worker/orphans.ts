import { type App, currentSettings } from '../actions/app.ts';
import type { ClaimedJob } from '../core/jobs/job.ts';
import { pause } from '../core/time/clock.ts';
import { isOutOfSight } from '../exec/lifeline.ts';
import { filesOfAttempt } from '../state/attempt-files.ts';
import { knownHost, refuseForeignProc } from '../state/host.ts';
import { clearFiles, runAttempt } from './attempt.ts';

import { isGone, type SeenHeartbeats } from './liveness.ts';
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
