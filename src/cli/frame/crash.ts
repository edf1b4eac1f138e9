import { armCrashPoint, type Crash } from '../../core/crash-point.ts';
import { pauseSync } from '../../core/time/clock.ts';

const BLOCK_MS = 3000;

const CRASHES: Record<Crash, () => void> = {
  kill: () => process.kill(process.pid, 'SIGKILL'),
  stop: () => process.kill(process.pid, 'SIGSTOP'),
  throw() {
    throw new Error('failed at a crash point on purpose');
  },
  block: () => pauseSync(BLOCK_MS),
};

/** Arms the crash point that `text` describes. The text is the value of QUEUECTL_CRASH_AT, which only tests set. */
export function crashAt(text: string): void {
  armCrashPoint(text, (kind) => CRASHES[kind]());
}
