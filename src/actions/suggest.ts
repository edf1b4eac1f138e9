import type { State } from '../core/job.ts';
import type { Store } from '../store/store.ts';

/** A value that could come next on a command line, with a word about it. */
export interface Suggestion {
  value: string;
  help: string;
}

/** So many of the newest jobs are looked at, and so many shown: nobody reads more. */
const LOOKED_AT = 1000;
const SHOWN = 100;

export async function suggestJobs(store: Store, prefix: string, states: State[]): Promise<Suggestion[]> {
  const jobs = await store.list(states.length === 0 ? {} : { states }, { limit: LOOKED_AT });
  return jobs
    .filter((job) => job.id.startsWith(prefix))
    .slice(0, SHOWN)
    .map((job) => ({ value: job.id, help: `${job.state} ${job.command}` }));
}

export async function suggestQueues(store: Store): Promise<Suggestion[]> {
  const totals = new Map<string, number>();
  for (const { queue, jobs } of await store.counts()) totals.set(queue, (totals.get(queue) ?? 0) + jobs);
  return [...totals].map(([value, jobs]) => ({ value, help: `${jobs} ${jobs === 1 ? 'job' : 'jobs'}` }));
}
