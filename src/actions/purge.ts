import type { JobActionResult } from './act.ts';
import type { App } from './app.ts';
import { deleteJobs } from './delete.ts';
import { cancelledWith, getJob, listJobs } from './jobs.ts';
import { wrongState } from './retry.ts';

/** Deletes these dead jobs, or all dead jobs if `ids` is null. Returns the ids of the deleted jobs. Throws if one of `ids` is not dead. */
export async function purgeDead(app: App, ids: string[] | null): Promise<string[]> {
  return (await deleteJobs(app, await deadJobs(app, ids), ['dead'])).changed;
}

/** Returns what `purgeDead` would delete now. Throws where it would throw. */
export async function previewPurge(app: App, ids: string[] | null): Promise<JobActionResult> {
  const changed = await deadJobs(app, ids);
  const alsoCancelled = await cancelledWith(app, changed, 'deleted');
  return { changed, unchanged: [], why: '', alsoCancelled };
}

async function deadJobs(app: App, ids: string[] | null): Promise<string[]> {
  for (const id of ids ?? []) {
    const job = await getJob(app, id);
    if (job.state !== 'dead') throw wrongState(id, job.state, ['dead']);
  }
  return ids ?? Array.fromAsync(listJobs(app, { states: ['dead'] }, null), ({ id }) => id);
}
