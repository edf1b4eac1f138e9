import { closeSync, constants, openSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { orNull } from '../core/or-null.ts';
import { namesIn } from '../files/names-in.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import { leaseClock } from './lease-clock.ts';
import { isHeld, makePipe, ownNamespace } from './lifeline.ts';

const PREFIX = 'guard-';
/** Two readings of the lease clock in different processes differ by less than this. */
const CLOCK_ERROR_MS = 100;
/** The name that all workers inside programs of users have instead of the id of a supervisor. */
export const LIBRARY_SUPERVISOR = 'library';

/**
 * Returns the path of a named pipe that a guard keeps open for reading, and its supervisor and workers for writing. Nothing is
 * written. A worker can tell that the guard is alive, and the guard reads the end of the pipe when all the others are gone. The
 * modification time of the pipe shows when the guard last looked at the lease, by the lease clock.
 */
export function guardLine({ lifelines }: StateDirectory, supervisor: string): string {
  return join(lifelines, `${PREFIX}${ownNamespace() ?? 'none'}-${supervisor}`);
}

/** Creates the pipe, if it is missing, and opens the guard's end. */
export async function openGuardEnd(state: StateDirectory, line: string): Promise<number> {
  for (;;) {
    try {
      return openSync(line, constants.O_RDONLY | constants.O_NONBLOCK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      await makePipe(state, line);
    }
  }
}

/** Opens the end of a supervisor or worker. Returns null if no guard has the pipe open. */
export function holdGuardLine(line: string): number | null {
  try {
    return openSync(line, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
}

/**
 * Notes in the pipe that its guard has looked at the lease now: in the modification time, and in the access time, too, unless it is for
 * its own workers only, because it is abandoned or just being started. This needs no space on a disk.
 */
export function noteLook(line: string, isForOwnWorkers: boolean): void {
  const seconds = leaseClock() / 1000;
  // If the pipe was removed, no worker finds a guard, and another guard is started.
  orNull(() => utimesSync(line, isForOwnWorkers ? 0 : seconds, seconds));
}

/** Returns how long ago a guard last looked at the lease. The time is infinite if none has looked in this boot, or if that is unknown. */
export function sinceLook(line: string): number {
  const lookedAt = orNull(() => statSync(line).mtimeMs) ?? Number.POSITIVE_INFINITY;
  const ageMs = leaseClock() - lookedAt;
  // A new pipe has the time of the wall clock, and a pipe of an earlier boot may have a later time than this boot.
  return ageMs < -CLOCK_ERROR_MS ? Number.POSITIVE_INFINITY : Math.max(0, ageMs);
}

/** Closes an end of the pipe that may not be open. */
export function releaseGuardLine(end: number | null): void {
  if (end !== null) closeSync(end);
}

/** A guard that is running has looked at the lease more recently than this. */
export const FRESH_LOOK_MS = 2000;

/**
 * Tells whether another guard, which is not abandoned, has itself looked at the lease after this time. One inside a program does not
 * count, because it ends with the program.
 */
export function hasOtherGuard(state: StateDirectory, line: string, after: number): boolean {
  const [prefix, ...left] = [guardLine(state, ''), line, guardLine(state, LIBRARY_SUPERVISOR)];
  return namesIn(state.lifelines)
    .map((name) => join(state.lifelines, name))
    .some(
      (path) =>
        path.startsWith(prefix) &&
        !left.includes(path) &&
        isHeld(path) &&
        !isForOwnWorkers(path) &&
        leaseClock() - sinceLook(path) > after,
    );
}

/** Tells whether other guards must not rely on a guard, by the access time that `noteLook` leaves. */
const isForOwnWorkers = (line: string): boolean => orNull(() => statSync(line).atimeMs) === 0;
