import { QueueError } from '../../core/errors.ts';
import { KEPT_FIELDS } from '../../core/jobs/field-list.ts';
import type { JobFilter, StoreFilter } from '../../core/jobs/filter.ts';
import type { GoneJob, Job, JobSpec } from '../../core/jobs/job.ts';
import type { JobInput } from '../../core/jobs/job-input.ts';
import { type JobObject, toJobObject } from '../../core/jobs/job-object.ts';
import type { Circumstances, JobWithReason } from '../../core/jobs/waiting-reason.ts';
import type { Schedule } from '../../core/schedules/schedule.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { runsInOtherNamespace } from '../../exec/lifeline.ts';
import { processes } from '../../exec/processes.ts';
import { filesOfAttempt } from '../../state/attempt-files.ts';
import { readRecord } from '../../state/record.ts';
import type { ChildState, ListedJob, ParentState } from '../../store/contract/jobs.ts';
import type { App } from '../app.ts';
import { fillIn } from './enqueue.ts';
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
function countersCover({ queue: _, states, waitingFor, ...rest }: JobFilter): boolean {
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

/** Returns the JSON object of a job that depends on another. */
export const toChildObject = ({ id, on, state, phase }: ChildState) => ({
  id,
  /** Which result of the parent the job waits for. */
  on,
  state,
  /** Tells whether the job still waits for the parent. */
  waiting: phase === 'open',
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

/**
 * Returns the pid of a running job's frame, which is also the id of its process group. Returns null if the
 * command is not running, if its process is gone, or if it runs in another pid namespace.
 */
export async function pidOf(app: App, { id, state }: Job): Promise<number | null> {
  if (state !== 'processing') return null;
  const attempt = (await app.store.attempts(id)).at(-1);
  if (attempt === undefined || attempt.finishedAt !== null) return null;
  const files = filesOfAttempt(app, attempt.number);
  const record = readRecord(files);
  if (record?.kind !== 'running' || runsInOtherNamespace(record)) return null;
  // After a crash, the record remains until a worker settles the attempt. Another process may have the pid by then.
  return processes.carries(record.pid, files.cookie) ? record.pid : null;
}

/** Selects the jobs for an action by references or by a filter. A reference is an id, a unique prefix of an id, or `@last`. */
export type Selection = { references: string[] } | { filter: JobFilter };

const LAST_JOB = '@last';
/** The error about an ambiguous prefix lists at most this many ids. */
const LISTED_IDS = 3;

/** Returns the ids of the selected jobs: in the order of the references, or of enqueueing for a filter. */
export async function selectJobs(app: App, selection: Selection): Promise<string[]> {
  if ('references' in selection) {
    const ids: string[] = [];
    for (const reference of selection.references) ids.push(await findJobId(app, reference));
    return [...new Set(ids)];
  }
  const ids = await Array.fromAsync(listJobs(app, selection.filter, null), ({ id }) => id);
  return ids.reverse();
}

/** Returns the id of the job with this id or unique prefix. `@last` is the job that was enqueued last. */
export async function findJobId(app: App, reference: string): Promise<string> {
  if (reference === LAST_JOB) {
    const [job] = await app.store.list({}, { limit: 1 });
    if (job === undefined)
      throw new QueueError(
        'job-not-found',
        'there are no jobs yet',
        "to add one: queuectl enqueue 'echo hello'",
      );
    return job.id;
  }
  const ids = reference === '' ? [] : await app.store.idsStartingWith(reference, LISTED_IDS + 1);
  if (ids.length === 1) return ids[0]!;
  if (ids.length === 0) throw new QueueError('job-not-found', `there is no job '${reference}'`);
  const listed = ids.slice(0, LISTED_IDS).join(', ') + (ids.length > LISTED_IDS ? ', …' : '');
  throw new QueueError('ambiguous-id', `several ids start with '${reference}': ${listed}`);
}

/** At most this many jobs are counted if the counters do not cover the filter. */
const MAX_COUNTED = 10_000;

/** Returns a page of matching jobs, newest first. `from` is the `next` of the previous page. Each is null if there is no such page. */
export async function pageOfJobs(app: App, filter: JobFilter, from: number | null, limit: number) {
  const deadline = app.clock.monotonic() + TIME_LIMIT_MS;
  const { storeFilter, circumstances } = await resolveFilter(app, filter);
  const { jobs, searchedDownTo } = await search(app, storeFilter, from ?? ABOVE_NEWEST, limit, deadline);
  // For the first page, the search has already counted the newest matching jobs.
  const counted =
    from === null ? { value: jobs.length, before: searchedDownTo } : { value: 0, before: ABOVE_NEWEST };
  const { value, capped } = countersCover(filter)
    ? { value: await countJobs(app, filter), capped: false }
    : await countMatches(app, storeFilter, counted, deadline);
  return {
    jobs: await withReasons(app, jobs, circumstances),
    next: searchedDownTo > 1 ? searchedDownTo : null,
    count: { value: Math.max(value, jobs.length), capped },
  };
}

/** A search that examines each job stops after this time. The next page continues it. */
const TIME_LIMIT_MS = 15;
/** Jobs are searched in stretches, between which other requests are served. The first stretch has this many jobs. */
const FIRST_STRETCH_JOBS = 1000;
/** If a stretch takes less than this time, the next one has twice as many jobs. */
const SHORT_STRETCH_MS = 2;
const ABOVE_NEWEST = Number.MAX_SAFE_INTEGER;

/** Yields ranges of job numbers (`above` < number < `before`), newest first, until the deadline or the first job (`above` is 0). */
async function* stretches(app: App, filter: StoreFilter, from: number, deadline: number) {
  const { states: _, queue: __, name: ___, ...other } = filter;
  // Indexes cover a filter by state, queue and name, so one stretch has all jobs.
  if (Object.keys(other).length === 0) {
    yield { before: from, above: 0 };
    return;
  }
  let jobsPerStretch = FIRST_STRETCH_JOBS;
  for (let before = from; ; ) {
    const start = app.clock.monotonic();
    const above = await app.store.scanEnd(filter, jobsPerStretch, before);
    yield { before, above };
    const now = app.clock.monotonic();
    if (above === 0 || now > deadline) return;
    if (now - start < SHORT_STRETCH_MS) jobsPerStretch *= 2;
    before = above + 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Finds up to `limit` matching jobs with numbers below `from`. Returns the lowest number that was searched as `searchedDownTo`. */
async function search(app: App, filter: StoreFilter, from: number, limit: number, deadline: number) {
  const jobs: ListedJob[] = [];
  let searchedDownTo = 1;
  for await (const stretch of stretches(app, filter, from, deadline)) {
    jobs.push(...(await app.store.list(filter, { limit: limit - jobs.length, ...stretch })));
    searchedDownTo = stretch.above + 1;
    if (jobs.length === limit) return { jobs, searchedDownTo: jobs.at(-1)!.number };
  }
  return { jobs, searchedDownTo };
}

/** Counts matching jobs, up to MAX_COUNTED and until the deadline. There may be more than `value` if `capped` is true. `counted` has the result for numbers from `counted.before` up. */
async function countMatches(
  app: App,
  filter: StoreFilter,
  counted: { value: number; before: number },
  deadline: number,
): Promise<{ value: number; capped: boolean }> {
  let { value } = counted;
  // The page has already searched all jobs.
  if (counted.before === 1) return { value, capped: false };
  for await (const stretch of stretches(app, filter, counted.before, deadline)) {
    value += await app.store.count(filter, MAX_COUNTED - value, stretch);
    if (value >= MAX_COUNTED || stretch.above === 0) return { value, capped: value >= MAX_COUNTED };
  }
  return { value, capped: true };
}

/** The fields that are not copied. The new job has its own id, is due at once and waits for no other job. */
const NOT_COPIED = ['id', 'run_at', 'depends_on'];

/** Returns the definition of a job, to enqueue another one like it. `reference` is an id, a unique prefix of one, or @last. */
export async function definitionOf(app: App, reference: string): Promise<JobInput> {
  const job = await withStdin(app, await getJob(app, await findJobId(app, reference)));
  const fields = KEPT_FIELDS.filter((field) => field.in === undefined && !NOT_COPIED.includes(field.name));
  const values = fields.map(({ key }) => [key, job[key as keyof typeof job]] as const);
  // The timeout is copied even if it is null. Otherwise the new job would get the default timeout.
  const given = values.filter(([key, value]) => value !== null || key === 'timeoutMs');
  const { onParentFailure: _, ...policy } = job.policy;
  const input: JobInput = { ...Object.fromEntries(given), hooks: job.hooks, policy };
  if (job.unique !== null) {
    const { key, forMs, while: during } = job.unique;
    input.unique = forMs === null ? { key, while: during } : { key, forMs };
  }
  return input;
}

/** Returns the complete job of a schedule, still without the id and the time of a tick, which `jobOfTick` adds. */
export function scheduledJob(schedule: Schedule, settings: Settings): JobSpec {
  const env = { ...schedule.job.env, QUEUECTL_SCHEDULE: schedule.name };
  const name = schedule.job.name ?? schedule.name;
  const noId = (): string => '';
  return fillIn({ ...schedule.job, env, name }, () => '/', settings, noId);
}
