import { writeFileSync } from 'node:fs';

/** What every process of this program is called in `ps`, `pgrep` and `killall`. */
export const NAME = 'queuectl';

/** Gives this process its name. Started through the kernel's link to the executable, it would be called `exe`. */
export function takeName(): void {
  try {
    if (process.platform === 'linux') writeFileSync('/proc/self/comm', NAME);
  } catch {
    // Then it keeps the name of its file.
  }
}
