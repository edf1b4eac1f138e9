import type { Running } from '../support/queuectl.ts';
import type { Lab } from './lab.ts';

/**
 * Starts a worker with three slots and without a supervisor, so that it is not replaced. It is killed at the crash
 * point, or suspended if `point` ends with `:stop`.
 */
export function unsupervisedWorker(lab: Lab, point: string): Running {
  const args = ['__worker', '--db', lab.database, '--supervisor', 'none', '--concurrency', '3'];
  return lab.box.start(args, {
    keepStdinOpen: true,
    env: { QUEUECTL_CRASH_AT: point },
  });
}
