import { writeFileSync } from 'node:fs';
import { orNull } from '../core/or-null.ts';

/** The name of every process of queuectl in `ps`, `pgrep` and `killall`. */
export const PROGRAM_NAME = 'queuectl';

/** Gives this process its name on Linux. After a start through the kernel's link to the executable, it would be called `exe`. */
export function setProcessName(): void {
  // If this fails, the process keeps the name of its file.
  if (process.platform === 'linux') orNull(() => writeFileSync('/proc/self/comm', PROGRAM_NAME));
}
