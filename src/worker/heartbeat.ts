import { currentSettings } from '../actions/app.ts';
import { QueueError } from '../core/errors.ts';
import type { Settings } from '../core/settings/settings.ts';
import { guardedMs } from '../core/settings/stored-settings.ts';
import { leaseClock } from '../exec/lease-clock.ts';
import { guardLine, holdGuardLine, releaseGuardLine } from '../exec/lifeline.ts';
import { processes } from '../exec/processes.ts';
import { trimAllAttempts } from '../exec/trim.ts';
import { isBallastFreed, makeBallast } from '../state/ballast.ts';
import { makeKey } from '../state/key.ts';
import { writeLease } from '../state/lease.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import { LIBRARY_SUPERVISOR } from './guard.ts';
import { recover } from './recovery.ts';
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
  if (lease?.extend(sentAt, settings)) worker.loops.work.runNow();
  worker.settings = await currentSettings(app, answer.settings);
  // The output of a command may have filled the disk.
  if (worker.savesSpace) await trimAllAttempts(app.stateDirectory, worker.settings['output-limit']);
  makeBallast(app.stateDirectory);
  if (worker.savesSpace && !saveSpace(worker)) worker.loops.work.runNow();
  makeKey(app.stateDirectory);
  await recover(worker);
  worker.lastCheckDone = leaving;
  if (answer.order !== null) stop(worker, answer.order, 'worker stop');
  if (leaving) worker.loops.work.runNow();
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

/** The lease of a worker in a store that several hosts share, by the clock of this host. */
export interface WorkerLease {
  /** Tells whether a command may start: the guard is alive and would not stop the command at once. */
  mayStart(): boolean;
  /** Tells whether the other hosts leave the jobs of this host alone for now. */
  isHeld(): boolean;
  /**
   * Extends the lease after a heartbeat that `leaseClock` timed before it was sent, and tells the guards of this host. Returns
   * whether `mayStart` has returned false since the last one.
   */
  extend(sentAt: number, settings: Settings): boolean;
  /** Lets the guard notice that this worker is gone. */
  release(): void;
}

export function createLease(state: StateDirectory, supervisor: string): WorkerLease {
  const line = supervisor === LIBRARY_SUPERVISOR ? null : guardLine(state, supervisor);
  let until = Number.NEGATIVE_INFINITY;
  let end: number | null = null;
  let wasRefused = false;
  /** Opens the pipe anew each time, because this fails if the guard has died. */
  const hasGuard = (path: string): boolean => {
    const newEnd = holdGuardLine(path);
    releaseGuardLine(end);
    end = newEnd;
    return end !== null;
  };
  return {
    mayStart() {
      const mayStart = (line === null || hasGuard(line)) && leaseClock() < until;
      wasRefused ||= !mayStart;
      return mayStart;
    },
    isHeld: () => leaseClock() < until,
    extend(sentAt, settings) {
      const newUntil = Math.floor(sentAt + guardedMs(settings));
      writeLease(state, { boot: processes.bootId(), until: newUntil, graceMs: settings['kill-grace'] });
      until = newUntil;
      const hadBeenRefused = wasRefused;
      wasRefused = false;
      return hadBeenRefused;
    },
    release() {
      releaseGuardLine(end);
      end = null;
    },
  };
}
