import type { JobChanges } from '../core/job-changes.ts';
import { checkAtMostOnce } from '../core/job-input.ts';
import { actOnJobs, type JobActionResult } from './act.ts';
import type { App } from './app.ts';
import { checkSecrets } from './enqueue.ts';

/**
 * Changes waiting jobs. An at-most-once job is left unchanged if the changes set `maxRetries` above 1. Throws if
 * the changes set a variable that is a secret of one of the jobs.
 */
export async function editJobs(app: App, ids: string[], changes: JobChanges): Promise<JobActionResult> {
  const { env } = changes;
  if (env !== undefined)
    for (const id of ids) checkSecrets({ secretEnv: (await app.store.get(id))?.secretEnv ?? [], env });
  const result = await actOnJobs(app, ids, 'are not pending or failed', (batch) =>
    app.store.edit(batch, changes, app.clock.now()),
  );
  if ((changes.maxRetries ?? 0) <= 1) return result;
  for (const id of result.unchanged)
    if ((await app.store.get(id))?.policy.atMostOnce)
      return { ...result, why: `${result.why}, or can have only one attempt (at-most-once)` };
  return result;
}

/** Changes one job. Throws if that would give an at-most-once job a second attempt. */
export async function editJob(app: App, id: string, changes: JobChanges): Promise<JobActionResult> {
  const policy = (await app.store.get(id))?.policy ?? {};
  if (changes.maxRetries !== undefined) checkAtMostOnce({ policy, maxRetries: changes.maxRetries });
  return editJobs(app, [id], changes);
}
