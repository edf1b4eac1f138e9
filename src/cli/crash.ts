import { pauseSync } from '../core/clock.ts';
import { armCrashPoint, type Crash } from '../core/crash-point.ts';

const BLOCK_MS = 3000;

/** Makes this process crash at the point that `text` names, the value of QUEUECTL_CRASH_AT. Only tests set that variable. */
export function crashAt(text: string): void {
  armCrashPoint(text, crash);
}

function crash(kind: Crash): void {
  switch (kind) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
      break;
    case 'stop':
      process.kill(process.pid, 'SIGSTOP');
      break;
    case 'throw':
      throw new Error('failed at a crash point on purpose');
    case 'block':
      pauseSync(BLOCK_MS);
  }
}
