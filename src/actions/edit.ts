import type { JobChanges } from '../core/job-changes.ts';
import { checkAtMostOnce } from '../core/job-input.ts';
import { type Acted, actOnJobs } from './act.ts';
import type { App } from './app.ts';
import { checkSecrets } from './enqueue.ts';

/** Changes waiting jobs. An at-most-once job is left unchanged if the changes set `maxRetries` above 1. */
export async function editJobs(app: App, ids: string[], changes: JobChanges): Promise<Acted> {
  const { env } = changes;
  if (env !== undefined)
    for (const id of ids) checkSecrets({ secretEnv: (await app.store.get(id))?.secretEnv ?? [], env });
  const acted = await actOnJobs(app, ids, 'are not pending or failed', (batch) =>
    app.store.edit(batch, changes, app.clock.now()),
  );
  if ((changes.maxRetries ?? 0) <= 1) return acted;
  for (const id of acted.unchanged)
    if ((await app.store.get(id))?.policy.atMostOnce)
      return { ...acted, why: `${acted.why}, or can have only one attempt (at-most-once)` };
  return acted;
}

/** Changes one job. Throws if that would give an at-most-once job a second attempt. */
export async function editJob(app: App, id: string, changes: JobChanges): Promise<Acted> {
  const policy = (await app.store.get(id))?.policy ?? {};
  if (changes.maxRetries !== undefined) checkAtMostOnce({ policy, maxRetries: changes.maxRetries });
  return editJobs(app, [id], changes);
}
