import { deleteJobs } from './act.ts';
import type { App } from './app.ts';
import { getJob, listJobs } from './jobs.ts';
import { wrongState } from './retry.ts';

/** Removes dead jobs for good, with their attempts and output. Null: all of them. */
export async function purgeDead(app: App, ids: string[] | null): Promise<string[]> {
  const chosen = ids === null ? await allDead(app) : [...new Set(ids)];
  for (const id of ids ?? []) {
    const job = await getJob(app, id);
    if (job.state !== 'dead') throw wrongState(id, job.state, ['dead']);
  }
  return (await deleteJobs(app, chosen, ['dead'])).changed;
}

async function allDead(app: App): Promise<string[]> {
  const ids: string[] = [];
  for await (const job of listJobs(app, { states: ['dead'] }, null)) ids.push(job.id);
  return ids;
}
