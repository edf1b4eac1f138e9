import type { App } from './app.ts';
import { deleteJobs } from './delete.ts';
import { getJob, listJobs } from './jobs.ts';
import { wrongState } from './retry.ts';

/** Deletes these dead jobs, or all dead jobs if `ids` is null. Returns the ids of the deleted jobs. Throws if one of `ids` is not dead. */
export async function purgeDead(app: App, ids: string[] | null): Promise<string[]> {
  for (const id of ids ?? []) {
    const job = await getJob(app, id);
    if (job.state !== 'dead') throw wrongState(id, job.state, ['dead']);
  }
  const chosen = ids ?? (await Array.fromAsync(listJobs(app, { states: ['dead'] }, null), ({ id }) => id));
  return (await deleteJobs(app, chosen, ['dead'])).changed;
}
