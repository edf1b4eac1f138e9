import { checkAtMostOnce } from '../core/at-most-once.ts';
import { editRule } from '../core/job-action-rules.ts';
import type { JobChanges } from '../core/job-changes.ts';
import { actOnJobs, type JobActionResult } from './act.ts';
import type { App } from './app.ts';
import { checkSecrets } from './enqueue.ts';
import { previewJobs, whyUnchanged } from './preview.ts';

/**
 * Changes waiting jobs. An at-most-once job is left unchanged if the changes set `maxRetries` above 1. Throws if
 * the changes set a variable that is a secret of one of the jobs.
 */
export async function editJobs(app: App, ids: string[], changes: JobChanges): Promise<JobActionResult> {
  await refuseSecrets(app, ids, changes);
  const result = await actOnJobs(app, ids, 'are not pending or failed', (batch) =>
    app.store.edit(batch, changes, app.clock.now()),
  );
  return { ...result, why: await whyUnchanged(app, result, editRule(changes.maxRetries)) };
}

/** Changes one job. Throws if that would give an at-most-once job a second attempt. */
export async function editJob(app: App, id: string, changes: JobChanges): Promise<JobActionResult> {
  await refuseSecondAttempt(app, id, changes);
  return editJobs(app, [id], changes);
}

/** Returns which jobs these changes would apply to. Throws in the same cases as `editJob` (for one id) or `editJobs` (for several). */
export async function previewEdit(app: App, ids: string[], changes: JobChanges): Promise<JobActionResult> {
  if (ids.length === 1) await refuseSecondAttempt(app, ids[0]!, changes);
  await refuseSecrets(app, ids, changes);
  return previewJobs(app, ids, editRule(changes.maxRetries));
}

async function refuseSecondAttempt(app: App, id: string, { maxRetries }: JobChanges): Promise<void> {
  const policy = (await app.store.get(id))?.policy ?? {};
  if (maxRetries !== undefined) checkAtMostOnce({ policy, maxRetries });
}

async function refuseSecrets(app: App, ids: string[], { env }: JobChanges): Promise<void> {
  if (env !== undefined)
    for (const id of ids) checkSecrets({ secretEnv: (await app.store.get(id))?.secretEnv ?? [], env });
}
