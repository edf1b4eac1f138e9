import { pauseSync } from '../core/clock.ts';
import { armCrashPoint, type Crash } from '../core/crash-point.ts';

const BLOCK_MS = 3000;

/** Arms the crash point that `text` describes. The text is the value of QUEUECTL_CRASH_AT, which only tests set. */
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
