import { currentSettings } from '../actions/app.ts';
import { QueueError } from '../core/errors.ts';
import { leaseClock } from '../exec/lease-clock.ts';
import { makeBallast } from '../state/ballast.ts';
import { makeKey } from '../state/key.ts';
import { recover } from './recovery.ts';
import { keepSeal } from './seal.ts';
import type { WorkerState } from './state.ts';
import { stop } from './stopping.ts';

/**
 * Renews the heartbeat, reads the settings and the stop order, restores missing files of the state directory, and takes over
 * the jobs of workers that are gone. Throws if this worker is no longer registered, or if its lease is over.
 */
export async function heartbeat(worker: WorkerState): Promise<void> {
  if (worker.over) return;
  const { app, id, lease, settings } = worker;
  const leaving = worker.order !== null || worker.idle;
  worker.lastCheckDone &&= leaving;
  const sentAt = lease === null ? 0 : leaseClock();
  const answer = await app.store.beat(id, leaving, settings.lease, app.clock.now());
  worker.isOutageReported = false;
  if (answer === null) {
    const more = lease === null ? '' : ', or its lease is over';
    throw new QueueError('worker-failed', `worker ${id} is no longer registered${more}`);
  }
  if (lease?.renewed(sentAt, settings)) worker.loops.work.runNow();
  worker.settings = await currentSettings(app);
  makeBallast(app.stateDirectory);
  makeKey(app.stateDirectory);
  await keepSeal(app);
  await recover(worker);
  worker.lastCheckDone = leaving;
  if (answer.order !== null) stop(worker, answer.order, 'worker stop');
  if (leaving) worker.loops.work.runNow();
}
