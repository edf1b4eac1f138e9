import { holdRule } from '../core/job-action-rules.ts';
import { actOnJobs, type JobActionResult } from './act.ts';
import type { App } from './app.ts';
import { whyUnchanged } from './preview.ts';

/** Keeps waiting jobs from running until they are released. */
export async function holdJobs(app: App, ids: string[]): Promise<JobActionResult> {
  const hold = (batch: string[]): Promise<string[]> => app.store.hold(batch, app.clock.now());
  const result = await actOnJobs(app, ids, 'are not pending or failed', hold);
  return { ...result, why: await whyUnchanged(app, result, holdRule) };
}
