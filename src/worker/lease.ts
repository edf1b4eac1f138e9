import type { Settings } from '../core/settings.ts';
import { guardedMs } from '../core/stored-settings.ts';
import { guardLine, holdGuardLine, releaseGuardLine } from '../exec/guard-line.ts';
import { leaseClock } from '../exec/lease-clock.ts';
import { processes } from '../exec/processes.ts';
import { writeLease } from '../state/lease.ts';
import type { StateDirectory } from '../state/state-directory.ts';

/** The lease of a worker in a store that several hosts share, by the clock of this host. */
export interface WorkerLease {
  /** Tells whether a command may start: the guard is alive, and would not stop the command at once. */
  mayStart(): boolean;
  /**
   * Notes a renewal that `leaseClock` timed before it was sent, and tells the guards of this host. Returns whether `mayStart` has
   * returned false since the last renewal.
   */
  renewed(sentAt: number, settings: Settings): boolean;
  /** Lets the guard notice that this worker is gone. */
  release(): void;
}

export function createLease(state: StateDirectory, supervisor: string): WorkerLease {
  const line = guardLine(state, supervisor);
  let until = Number.NEGATIVE_INFINITY;
  let end: number | null = null;
  let wasRefused = false;
  const release = (): void => {
    releaseGuardLine(end);
    end = null;
  };
  return {
    mayStart() {
      // The pipe is opened anew each time, because this fails if the guard has died.
      const newEnd = holdGuardLine(line);
      release();
      end = newEnd;
      const mayStart = end !== null && leaseClock() < until;
      wasRefused ||= !mayStart;
      return mayStart;
    },
    renewed(sentAt, settings) {
      const newUntil = Math.floor(sentAt + guardedMs(settings));
      writeLease(state, { boot: processes.bootId(), until: newUntil, graceMs: settings['kill-grace'] });
      until = newUntil;
      const hadBeenRefused = wasRefused;
      wasRefused = false;
      return hadBeenRefused;
    },
    release,
  };
}
