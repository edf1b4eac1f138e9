import { QueueError } from '../core/errors.ts';
import type { JobFilter } from '../core/filter.ts';
import type { GoneJob, Job } from '../core/job.ts';
import { type JobObject, toJobObject } from '../core/job-object.ts';
import type { Attempt, ListedJob, ParentState } from '../store/contract/jobs.ts';
import type { App } from './app.ts';
import { pidOf } from './pid.ts';

const PAGE = 1000;

/** Reads matching jobs in pages, newest first, so that a list of a million jobs is never in memory as a whole. */
export async function* listPages(
  app: App,
  filter: JobFilter,
  limit: number | null,
): AsyncGenerator<ListedJob[]> {
  let remaining = limit ?? Number.POSITIVE_INFINITY;
  let before = Number.MAX_SAFE_INTEGER;
  while (remaining > 0) {
    const want = Math.min(remaining, PAGE);
    const jobs = await app.store.list(filter, { limit: want, before });
    yield jobs;
    if (jobs.length < want) return;
    remaining -= jobs.length;
    before = jobs.at(-1)!.number;
  }
}

/** Reads matching jobs one by one, newest first. */
export async function* listJobs(app: App, filter: JobFilter, limit: number | null): AsyncGenerator<Job> {
  for await (const page of listPages(app, filter, limit)) yield* page;
}

/** Returns how many jobs the counters have for the queue and the states of a filter. Ignores its other conditions. */
export async function countJobs(app: App, filter: JobFilter): Promise<number> {
  let total = 0;
  for (const count of await app.store.counts()) {
    if (filter.queue !== undefined && count.queue !== filter.queue) continue;
    if (filter.states?.length && !filter.states.includes(count.state)) continue;
    total += count.jobs;
  }
  return total;
}

/** Returns how many jobs match any filter. If the counters cannot answer, it counts at most `most` jobs. */
export function countMatching(app: App, filter: JobFilter, most: number): Promise<number> {
  const { queue: _, states: __, ...rest } = filter;
  return Object.keys(rest).length === 0 ? countJobs(app, filter) : app.store.count(filter, most);
}

/** Returns a job, or null if there is none with this id. */
export const lookUpJob = (app: App, id: string): Promise<Job | null> => app.store.get(id);

export async function getJob(app: App, id: string): Promise<Job> {
  const job = await lookUpJob(app, id);
  if (job === null) throw new QueueError('job-not-found', `there is no job '${id}'`);
  return job;
}

/** Returns the job with its stdin, which other reads leave out. */
export async function withStdin<T extends Job>(app: App, job: T): Promise<T> {
  return job.stdinBytes === 0 || job.stdin !== null ? job : { ...job, stdin: await app.store.stdin(job.id) };
}

/** Returns the JSON object of a job, which can be enqueued again as it is. */
export async function jobObject(app: App, job: Job): Promise<JobObject> {
  return { ...toJobObject(await withStdin(app, job)), pid: await pidOf(app, job) };
}

/** Returns the JSON object of an enqueued job. A job that has been deleted since has only the fields of `GoneJob`. */
export async function addedObject(app: App, job: Job | GoneJob): Promise<JobObject | GoneJob> {
  return 'gone' in job ? job : jobObject(app, job);
}

export async function showJob(app: App, id: string): Promise<{ job: Job; attempts: Attempt[] }> {
  return { job: await getJob(app, id), attempts: await app.store.attempts(id) };
}

/** Returns the state of each job that this one depends on. */
export const parentsOf = (app: App, id: string): Promise<ParentState[]> => app.store.dependencies(id);

/** Returns the ids of other jobs that were cancelled because of one of the first `most` of `ids`, and are still cancelled. */
export async function cancelledBecauseOf(app: App, ids: string[], most: number): Promise<string[]> {
  const cancelled = new Set<string>();
  for (const id of ids.slice(0, most))
    for (const child of await app.store.cancelledDueTo(id)) cancelled.add(child);
  for (const id of ids) cancelled.delete(id);
  return [...cancelled];
}
