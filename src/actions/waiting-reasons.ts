import type { JobFilter, StoreFilter } from '../core/filter.ts';
import type { Job } from '../core/job.ts';
import { availableTokens } from '../core/rate.ts';
import {
  type Circumstances,
  isWaiting,
  type JobWithReason,
  queueReason,
  type ReasonCounts,
  selectWaiting,
  WAITING_REASONS,
  waitingReason,
  zeroReasonCounts,
} from '../core/waiting-reason.ts';
import type { Queue } from '../store/contract/queues.ts';
import { type App, currentSettings } from './app.ts';
import { activeWorkers, serves, takesJobs } from './workers.ts';

/** Reads the queues, their running jobs and the workers, as far as they decide why jobs wait. */
export async function readCircumstances(app: App): Promise<Circumstances> {
  const now = app.clock.now();
  const runningByQueue = new Map<string, number>();
  for (const { queue, state, jobs } of await app.store.counts())
    if (state === 'processing') runningByQueue.set(queue, jobs);
  const total = runningByQueue.values().reduce((sum, jobs) => sum + jobs, 0);
  const maxJobs = (await currentSettings(app))['max-concurrent-jobs'] ?? Number.POSITIVE_INFINITY;
  const workers = (await activeWorkers(app)).filter(takesJobs);
  const reasonOf = ({ name, pausedAt, concurrency, rate, tokens }: Queue) =>
    queueReason({
      paused: pausedAt !== null,
      served: workers.some((worker) => serves(worker, name)),
      full: total >= maxJobs || (runningByQueue.get(name) ?? 0) >= (concurrency ?? Number.POSITIVE_INFINITY),
      rateReached: rate !== null && availableTokens(rate, tokens, now).tokens < 1,
    });
  const served = workers.some((worker) => worker.queues === null);
  return {
    now,
    queues: new Map((await app.store.queues()).map((queue) => [queue.name, reasonOf(queue)])),
    otherQueues: queueReason({ paused: false, served, full: total >= maxJobs, rateReached: false }),
  };
}

/** Sets `waitingFor` of each job, in place. Reads nothing if none of the jobs waits. */
export async function withReasons<T extends Job>(
  app: App,
  jobs: T[],
  known?: Circumstances,
): Promise<(T & JobWithReason)[]> {
  const circumstances = jobs.some(isWaiting) ? (known ?? (await readCircumstances(app))) : null;
  return jobs.map((job) =>
    Object.assign(job, { waitingFor: circumstances === null ? null : waitingReason(job, circumstances) }),
  );
}

export async function withReason<T extends Job>(app: App, job: T): Promise<T & JobWithReason> {
  return (await withReasons(app, [job]))[0]!;
}

/**
 * Replaces the waiting reasons of a filter by conditions that the store can look up. Also returns the circumstances that it
 * read, so that the jobs are shown with the reasons by which they were found.
 */
export async function resolveFilter(
  app: App,
  { waitingFor, ...filter }: JobFilter,
): Promise<{ storeFilter: StoreFilter; circumstances?: Circumstances }> {
  if (waitingFor === undefined) return { storeFilter: filter };
  const circumstances = await readCircumstances(app);
  return { storeFilter: { ...filter, waiting: selectWaiting(waitingFor, circumstances) }, circumstances };
}

/** Counts the waiting jobs of each queue by reason. The cost grows with the number of held, blocked and not yet due jobs. */
export async function countReasons(app: App, circumstances?: Circumstances) {
  const { now, queues, otherQueues } = circumstances ?? (await readCircumstances(app));
  const counts = new Map<string, ReasonCounts>();
  const countsOf = (queue: string): ReasonCounts => {
    const found = counts.get(queue) ?? zeroReasonCounts();
    counts.set(queue, found);
    return found;
  };
  const dueByQueue = new Map<string, number>();
  for (const { queue, state, jobs } of await app.store.counts())
    if (isWaiting({ state })) dueByQueue.set(queue, (dueByQueue.get(queue) ?? 0) + jobs);
  for (const { queue, ...ownCounts } of await app.store.setAsideCounts(now)) {
    Object.assign(countsOf(queue), ownCounts);
    const sum = Object.values(ownCounts).reduce((all, jobs) => all + jobs, 0);
    dueByQueue.set(queue, (dueByQueue.get(queue) ?? 0) - sum);
  }
  // The store may change between the two reads, so a difference may be negative.
  for (const [queue, jobs] of dueByQueue)
    countsOf(queue)[queues.get(queue) ?? otherQueues] += Math.max(0, jobs);
  return [...counts].map(([queue, jobs]) => ({ queue, jobs }));
}

export function sumReasons(counts: { jobs: ReasonCounts }[]): ReasonCounts {
  const sum = zeroReasonCounts();
  for (const { jobs } of counts) for (const reason of WAITING_REASONS) sum[reason] += jobs[reason];
  return sum;
}
