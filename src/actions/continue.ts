import type { JobActionResult } from './act.ts';
import type { App } from './app.ts';
import { signalJobs } from './suspend.ts';

export function continueJobs(app: App, ids: string[]): Promise<JobActionResult> {
  return signalJobs(app, ids, 'SIGCONT');
}
