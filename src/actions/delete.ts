import type { State } from '../core/job.ts';
import { placeOfAttempt, removePlace } from '../state/place.ts';
import { type Acted, actOnJobs } from './act.ts';
import type { App } from './app.ts';

const DELETABLE: readonly State[] = ['pending', 'failed', 'completed', 'dead', 'cancelled'];

/** Deletes jobs permanently, with their output. Running jobs are left unchanged. */
export async function deleteJobs(
  app: App,
  ids: string[],
  from: readonly State[] = DELETABLE,
): Promise<Acted> {
  const dependents = new Set<string>();
  const acted = await actOnJobs(app, ids, 'are running', async (batch) => {
    const removed = await app.store.remove(batch, from, app.clock.now());
    for (const id of removed.dependents) dependents.add(id);
    for (const attempt of removed.attempts) removePlace(placeOfAttempt(app, attempt));
    return removed.ids;
  });
  return { ...acted, alsoCancelled: [...dependents.difference(new Set(acted.changed))] };
}
