import type { Running } from '../support/queuectl.ts';
import type { Lab } from './lab.ts';

/**
 * Starts a worker without a supervisor, so that it is not replaced, with slots for three jobs. It dies at the crash
 * point.
 */
export function unsupervisedWorker(lab: Lab, point: string): Running {
  const args = ['__worker', '--db', lab.database, '--supervisor', 'none', '--concurrency', '3'];
  return lab.box.start(args, {
    open: true,
    env: { QUEUECTL_CRASH_AT: point },
  });
}
