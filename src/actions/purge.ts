import { placeOf, removePlace } from '../exec/place.ts';
import type { App } from './app.ts';
import { getJob, listJobs } from './jobs.ts';
import { wrongState } from './retry.ts';

const BATCH = 500;

/** Removes dead jobs for good, with their attempts and output. Null: all of them. */
export async function purgeDead(app: App, ids: string[] | null): Promise<string[]> {
  const chosen = ids === null ? await allDead(app) : [...new Set(ids)];
  for (const id of ids ?? []) {
    const job = await getJob(app, id);
    if (job.state !== 'dead') throw wrongState(id, job.state, ['dead']);
  }
  const removed: string[] = [];
  // In batches, so that nobody waits long for the writer.
  for (let i = 0; i < chosen.length; i += BATCH) {
    const batch = await app.store.remove(chosen.slice(i, i + BATCH), ['dead']);
    for (const attempt of batch.attempts) removePlace(placeOf(app.stateDirectory, app.store.epoch, attempt));
    removed.push(...batch.ids);
  }
  return removed;
}

async function allDead(app: App): Promise<string[]> {
  const ids: string[] = [];
  for await (const job of listJobs(app, { states: ['dead'] }, null)) ids.push(job.id);
  return ids;
}
