import { QueueError } from '../core/errors.ts';
import type { JobFilter } from '../core/filter.ts';
import type { Dependency, GoneJob, Job, State } from '../core/job.ts';
import { type JobObject, toJobObject } from '../core/job-object.ts';
import type { Circumstances, JobWithReason } from '../core/waiting-reason.ts';
import type { ChildState, ParentState } from '../store/contract/jobs.ts';
import type { App } from './app.ts';
import { pidOf } from './pid.ts';
import { countReasons, resolveFilter, withReason, withReasons } from './waiting-reasons.ts';

const PAGE_SIZE = 1000;

/**
 * Reads matching jobs in pages, newest first, so that a list of a million jobs is never in memory as a whole. Queues and workers
 * are read at most once for each page, to tell why its jobs wait.
 */
export async function* listPages(app: App, filter: JobFilter, limit: number | null) {
  let remaining = limit ?? Number.POSITIVE_INFINITY;
  let before = Number.MAX_SAFE_INTEGER;
  while (remaining > 0) {
    const pageLimit = Math.min(remaining, PAGE_SIZE);
    const { storeFilter, circumstances } = await resolveFilter(app, filter);
    const jobs = await app.store.list(storeFilter, { limit: pageLimit, before });
    yield await withReasons(app, jobs, circumstances);
    if (jobs.length < pageLimit) return;
    remaining -= jobs.length;
    before = jobs.at(-1)!.number;
  }
}

/** Reads matching jobs one by one, newest first. */
export async function* listJobs(app: App, filter: JobFilter, limit: number | null) {
  for await (const page of listPages(app, filter, limit)) yield* page;
}

/** Tells whether the matching jobs can be counted with the counters of the store, without reading them. */
export function countersCover({ queue: _, states, waitingFor, ...rest }: JobFilter): boolean {
  return Object.keys(rest).length === 0 && (states === undefined || waitingFor === undefined);
}

/** Returns how many jobs match a filter that the counters cover. */
export async function countJobs(
  app: App,
  { queue: wantedQueue, states, waitingFor }: Pick<JobFilter, 'queue' | 'states' | 'waitingFor'>,
): Promise<number> {
  let total = 0;
  if (waitingFor !== undefined) {
    for (const { queue, jobs } of await countReasons(app))
      if (wantedQueue === undefined || queue === wantedQueue)
        for (const reason of new Set(waitingFor)) total += jobs[reason];
    return total;
  }
  const counts = await app.store.counts(wantedQueue === undefined ? undefined : [wantedQueue]);
  for (const { state, jobs } of counts) if (!states?.length || states.includes(state)) total += jobs;
  return total;
}

/** Returns how many jobs match a filter. Counts only up to `limit` if the counters do not cover the filter. */
export async function countMatching(app: App, filter: JobFilter, limit: number): Promise<number> {
  return countersCover(filter)
    ? countJobs(app, filter)
    : app.store.count((await resolveFilter(app, filter)).storeFilter, limit);
}

/** Returns a job, or null if there is none with this id. */
export const lookUpJob = (app: App, id: string): Promise<Job | null> => app.store.get(id);

/** Returns a job. Throws if there is none with this id. */
export async function getJob(app: App, id: string): Promise<Job> {
  const job = await lookUpJob(app, id);
  if (job === null) throw new QueueError('job-not-found', `there is no job '${id}'`);
  return job;
}

/** Returns the job with its stdin, which other reads leave out. */
export async function withStdin<T extends Job>(app: App, job: T): Promise<T> {
  return job.stdinBytes === 0 || job.stdin !== null ? job : { ...job, stdin: await app.store.stdin(job.id) };
}

/** Returns the JSON object of a job. It can be enqueued again with another id. */
export async function jobObject(app: App, job: Job | JobWithReason): Promise<JobObject> {
  const jobWithReason = 'waitingFor' in job ? job : await withReason(app, job);
  return { ...toJobObject(await withStdin(app, jobWithReason)), pid: await pidOf(app, job) };
}

/** Returns the JSON objects of enqueued jobs, or only a `GoneJob` for a deleted one. Reads queues and workers at most once. */
export async function enqueuedJobObjects(
  app: App,
  jobs: (Job | GoneJob)[],
  circumstances?: Circumstances,
): Promise<(JobObject | GoneJob)[]> {
  const present = jobs.filter((job): job is Job => !('gone' in job));
  await withReasons(app, present, circumstances);
  return Promise.all(jobs.map((job) => ('gone' in job ? job : jobObject(app, job))));
}

/** A job that changes while its attempts are read is read again with its attempts, at most this many times. */
const MAX_REREADS = 3;

/** Reads a job and then its attempts. Reads both again if the job changed in between. */
export async function getJobWithAttempts(app: App, id: string) {
  let job = await getJob(app, id);
  for (let rereads = 0; ; rereads++) {
    const attempts = await app.store.attempts(id);
    const reread = await getJob(app, id);
    if ((reread.state === job.state && reread.attempts === job.attempts) || rereads === MAX_REREADS)
      return { job: await withReason(app, job), attempts };
    job = reread;
  }
}

/** Returns the state of each job that this one depends on. */
export const parentsOf = (app: App, id: string): Promise<ParentState[]> => app.store.dependencies(id);

/** Returns the first `limit` (default: all) of the jobs that depend on this one. */
export const childrenOf = (app: App, id: string, limit?: number): Promise<ChildState[]> =>
  app.store.children(id, limit);

/** Counts the jobs that depend on this one, up to `most`. */
export const countChildren = (app: App, id: string, most: number): Promise<number> =>
  app.store.countChildren(id, most);

/** The JSON object of a job that depends on another. */
export interface ChildObject {
  id: string;
  /** Which result of the parent the job waits for. */
  on: Dependency['on'];
  state: State;
  /** Tells whether the job still waits for the parent. */
  waiting: boolean;
}

export const toChildObject = ({ id, on, state, phase }: ChildState): ChildObject => ({
  ...{ id, on, state, waiting: phase === 'open' },
});

/** Returns the ids of other jobs that would be cancelled if these were cancelled or deleted now. Stops after `most` for a single job. */
export async function cancelledWith(app: App, ids: string[], end: 'cancelled' | 'deleted', most?: number) {
  const dependents = new Set<string>();
  for (let at = 0; at < ids.length; at += PAGE_SIZE) {
    const page = ids.slice(at, at + PAGE_SIZE);
    for (const id of await app.store.cancelledWith(page, end, most)) dependents.add(id);
  }
  for (const id of ids) dependents.delete(id);
  return [...dependents];
}

/**
 * Returns the ids of other jobs that were cancelled because of these and still are. Checks only the first `limit` ids. With
 * `ends` = `last`, jobs that an earlier end had cancelled are left out.
 */
export async function cancelledBecauseOf(
  app: App,
  ids: string[],
  { limit = ids.length, ends = 'all' }: { limit?: number; ends?: 'all' | 'last' } = {},
): Promise<string[]> {
  const cancelled = new Set<string>();
  for (const id of ids.slice(0, limit))
    for (const child of await app.store.cancelledDueTo(id, ends)) cancelled.add(child);
  for (const id of ids) cancelled.delete(id);
  return [...cancelled];
}
