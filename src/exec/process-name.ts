import { writeFileSync } from 'node:fs';
import { orNull } from '../core/or-null.ts';

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
