import { actOnJobs, type JobActionResult } from './act.ts';
import type { App } from './app.ts';

export function releaseJobs(app: App, ids: string[]): Promise<JobActionResult> {
  return actOnJobs(app, ids, 'are not held', (batch) => app.store.release(batch, app.clock.now()));
}
