import { type App, currentSettings } from '../actions/app.ts';
import { pause } from '../core/clock.ts';
import type { Claim } from '../core/job.ts';
import { isOutOfSight } from '../exec/lifeline.ts';
import { refuseForeignProc, thisHost } from '../state/host.ts';
import { placeOfAttempt } from '../state/place.ts';
import { wake } from '../state/wake.ts';
import { runAttempt } from './attempt.ts';
import { isGone, type Sightings } from './liveness.ts';
import { clearPlace } from './settling.ts';

const POLL_MS = 50;

/**
 * Waits until running jobs have ended after a cancel request. A job whose worker is gone is taken over, ended and settled here,
 * so that a cancel works without a worker. A job whose processes cannot be seen from here is left to a worker that can see
 * them. Returns the ids of the cancelled jobs.
 */
export async function untilEnded(app: App, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const waitingFor = new Set(ids);
  const { lease } = await currentSettings(app);
  const observer = { host: thisHost(app.stateDirectory), leaseMs: lease, seen: new Map() as Sightings };
  for (;;) {
    const running = (await app.store.running()).filter((job) => waitingFor.has(job.id));
    for (const id of waitingFor) if (!running.some((job) => job.id === id)) waitingFor.delete(id);
    if (waitingFor.size === 0) break;
    const workers = await app.store.workers();
    const now = app.clock.monotonic();
    const alive = new Set(workers.filter((one) => !isGone(one, observer, now)).map((worker) => worker.id));
    for (const job of running) {
      if (job.workerId === null || alive.has(job.workerId)) continue;
      const place = placeOfAttempt(app, job.claim.attempt);
      if (isOutOfSight(place)) waitingFor.delete(job.id);
      else await takeAndEnd(app, job.claim);
    }
    await pause(POLL_MS);
  }
  const cancelled: string[] = [];
  for (const id of ids) if ((await app.store.get(id))?.state === 'cancelled') cancelled.push(id);
  return cancelled;
}

async function takeAndEnd(app: App, claim: Claim): Promise<void> {
  refuseForeignProc();
  const job = await app.store.adopt(claim, `${process.pid}-cancel`);
  if (job === null) return;
  const context = {
    app,
    settings: await currentSettings(app),
    user: { umask: 0o077, openFileLimit: null },
    lifeline: null,
    emit: () => {},
    order: null,
    signalledAt: Number.NEGATIVE_INFINITY,
  };
  const adoption = { rebooted: false, stopping: false, seal: await app.store.seal() };
  const finished = await runAttempt(context, job, adoption).done;
  if (finished === null) return;
  if ((await app.store.settle(finished.settlement)) === 'lost') return;
  clearPlace(finished);
  wake(app.stateDirectory);
}
