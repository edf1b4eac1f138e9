import { writeFileSync } from 'node:fs';

/** The name of every process of this program in `ps`, `pgrep` and `killall`. */
export const NAME = 'queuectl';

/** Gives this process its name. After a start through the kernel's link to the executable, it would be called `exe`. */
export function takeName(): void {
  try {
    if (process.platform === 'linux') writeFileSync('/proc/self/comm', NAME);
  } catch {
    // The process keeps the name of its file.
  }
}
