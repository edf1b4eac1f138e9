import { statSync, writeFileSync } from 'node:fs';
import { orNull } from '../core/text/language.ts';

/** The name of every process of queuectl in `ps`, `pgrep` and `killall`. */
export const PROGRAM_NAME = 'queuectl';

/** Is set for every process that queuectl starts as a copy of itself (exec/self.ts). */
export const SELF_STARTED_VARIABLE = 'BUN_JSC_useConcurrentGC';

/**
 * Gives a process that queuectl has started its name on Linux. After that start, through the kernel's link to the executable, it
 * is called `exe`. A process that a user starts already has the name of its file.
 */
export function setProcessName(environment: NodeJS.ProcessEnv): void {
  if (process.platform !== 'linux' || environment[SELF_STARTED_VARIABLE] === undefined) return;
  // If this fails, the process keeps its name.
  orNull(() => writeFileSync('/proc/self/comm', PROGRAM_NAME));
}

/** The variable that makes a worker die at a crash point, for tests. Jobs do not inherit it. */
export const CRASH_AT_VARIABLE = 'QUEUECTL_CRASH_AT';

/**
 * The variable that tells a process of queuectl its store. It is not an argument, because every user of the machine can see
 * arguments, and the URL of a store may have a password. Jobs do not inherit it. They get QUEUECTL_DB if the user has set it.
 */
export const STORE_VARIABLE = 'QUEUECTL_WORKER_STORE';

/** Tells whether a process runs the same executable as this one. Returns null if the system does not tell. */
export function runsThisExecutable(pid: number): boolean | null {
  return isThisExecutable(`/proc/${pid}/exe`);
}

/** Tells whether a path leads to the executable of this process. Returns null if the system does not tell. */
export function isThisExecutable(path: string): boolean | null {
  return orNull(() => {
    const [other, current] = [statSync(path), statSync('/proc/self/exe')];
    return other.dev === current.dev && other.ino === current.ino;
  });
}
