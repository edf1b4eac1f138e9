import type { State } from '../core/job.ts';
import { DELETABLE_STATES } from '../core/job-action-rules.ts';
import { placeOfAttempt, removePlace } from '../state/place.ts';
import { actOnJobs } from './act.ts';
import type { App } from './app.ts';

/** Permanently deletes the jobs that are in one of `states`, with their output. The default is all states but processing. */
export async function deleteJobs(app: App, ids: string[], states: readonly State[] = DELETABLE_STATES) {
  const dependents = new Set<string>();
  const result = await actOnJobs(app, ids, 'are running', async (batch) => {
    const removed = await app.store.remove(batch, states, app.clock.now());
    for (const id of removed.dependents) dependents.add(id);
    for (const attempt of removed.attempts) removePlace(placeOfAttempt(app, attempt));
    return removed.ids;
  });
  return { ...result, alsoCancelled: [...dependents.difference(new Set(result.changed))] };
}
