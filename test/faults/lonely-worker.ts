import type { Running } from '../support/queuectl.ts';
import type { Lab } from './lab.ts';

/** A worker without a supervisor, so that nobody replaces it, with slots for three jobs. It dies at the point. */
export function lonelyWorker(lab: Lab, point: string): Running {
  const args = ['__worker', '--db', lab.database, '--supervisor', 'none', '--concurrency', '3'];
  return lab.box.start(args, {
    open: true,
    env: { QUEUECTL_CRASH_AT: point },
  });
}
