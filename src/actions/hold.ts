import { actOnJobs, type JobActionResult } from './act.ts';
import type { App } from './app.ts';

/** Keeps waiting jobs from running until they are released. */
export async function holdJobs(app: App, ids: string[]): Promise<JobActionResult> {
  const hold = (batch: string[]): Promise<string[]> => app.store.hold(batch, app.clock.now());
  const result = await actOnJobs(app, ids, 'are not pending or failed', hold);
  for (const id of result.unchanged) if (!(await app.store.get(id))?.held) return result;
  return { ...result, why: 'are already held' };
}
