import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../files/names-in.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import { isHeld, makePipe, ownNamespace } from './lifeline.ts';

const PREFIX = 'guard-';
/** The name that all workers inside programs of users have instead of the id of a supervisor. */
export const LIBRARY_SUPERVISOR = 'library';

/**
 * Returns the path of a named pipe that a guard keeps open for reading, and its supervisor and workers for writing. Nothing is
 * written. A worker can tell that the guard is alive, and the guard reads the end of the pipe when all the others are gone.
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

/** Closes an end of the pipe that may not be open. */
export function releaseGuardLine(end: number | null): void {
  if (end !== null) closeSync(end);
}

/** Tells whether another guard watches the same commands. One inside a program does not count, because it ends with the program. */
export function hasOtherGuard(state: StateDirectory, line: string): boolean {
  const [prefix, ...left] = [guardLine(state, ''), line, guardLine(state, LIBRARY_SUPERVISOR)];
  return namesIn(state.lifelines)
    .map((name) => join(state.lifelines, name))
    .some((path) => path.startsWith(prefix) && !left.includes(path) && isHeld(path));
}
