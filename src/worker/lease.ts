import type { Settings } from '../core/settings.ts';
import { guardedMs, marginMs } from '../core/stored-settings.ts';
import { guardLine, holdGuardLine, releaseGuardLine, sinceLook } from '../exec/guard-line.ts';
import { leaseClock } from '../exec/lease-clock.ts';
import { processes } from '../exec/processes.ts';
import { writeLease } from '../state/lease.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import { createSecondGuard } from './second-guard.ts';

/** A guard that has not looked at the lease for this long is not relied on. With a short lease, half of its guarded time counts. */
const LONGEST_SILENCE_MS = 5000;

/** The lease of a worker in a store that several hosts share, by the clock of this host. */
export interface WorkerLease {
  /** Tells whether a command may start: the guard is alive, has looked at the lease lately, and would not stop the command at once. */
  mayStart(): boolean;
  /**
   * Notes a renewal that `leaseClock` timed before it was sent, and tells the guards of this host. Returns whether `mayStart` has
   * returned false since the last renewal.
   */
  renewed(sentAt: number, settings: Settings): boolean;
  /** Lets the guard notice that this worker is gone. */
  release(): void;
}

export function createLease(
  state: StateDirectory,
  supervisor: string,
  log: (line: string) => void,
): WorkerLease {
  const line = guardLine(state, supervisor);
  const secondGuard = createSecondGuard(state, line, log);
  let silenceMs = LONGEST_SILENCE_MS;
  let until = Number.NEGATIVE_INFINITY;
  let end: number | null = null;
  let wasRefused = false;
  const releaseEnd = (): void => {
    releaseGuardLine(end);
    end = null;
  };
  return {
    mayStart() {
      // The pipe is opened anew each time, because this fails if the guard has died.
      const newEnd = holdGuardLine(line);
      releaseEnd();
      end = newEnd;
      const mayStart = end !== null && sinceLook(line) < silenceMs && leaseClock() < until;
      wasRefused ||= !mayStart;
      return mayStart;
    },
    renewed(sentAt, settings) {
      const newUntil = Math.floor(sentAt + guardedMs(settings));
      writeLease(state, { boot: processes.bootId(), until: newUntil, graceMs: settings['kill-grace'] });
      until = newUntil;
      silenceMs = Math.min(LONGEST_SILENCE_MS, guardedMs(settings) / 2);
      secondGuard.renewed(newUntil, marginMs(settings.lease) / 4);
      const hadBeenRefused = wasRefused;
      wasRefused = false;
      return hadBeenRefused;
    },
    release() {
      releaseEnd();
      secondGuard.end();
    },
  };
}
