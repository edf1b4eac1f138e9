import type { JobFilter, StoreFilter } from '../../core/jobs/filter.ts';
import { HOOK_QUEUE } from '../../core/jobs/hooks.ts';
import type { Job } from '../../core/jobs/job.ts';
import {
  type Circumstances,
  isWaiting,
  type JobWithReason,
  OWN_REASONS,
  type OwnReason,
  type QueueReason,
  queueReason,
  type ReasonCounts,
  selectWaiting,
  waitingReason,
  zeroReasonCounts,
} from '../../core/jobs/waiting-reason.ts';
import { availableTokens } from '../../core/rules/queue.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { toIso } from '../../core/time/time.ts';
import type { QueueCount } from '../../store/contract/jobs.ts';
import type { QueueRow } from '../../store/contract/queues.ts';
import { type App, currentSettings } from '../app.ts';
import { activeWorkers, serves, takesJobs } from '../workers/workers.ts';

/**
 * Reads the queues, their running jobs and the workers, as far as they decide why jobs wait. It does not read queues that are
 * neither paused nor limited, because there may be thousands.
 */
export async function readCircumstances(app: App): Promise<Circumstances> {
  const now = app.clock.now();
  const limited = await app.store.limitedQueues();
  const running = await countRunning(app, limited);
  const workers = (await activeWorkers(app)).filter(takesJobs);
  const reasonOf = (name: string, queue?: QueueRow): QueueReason =>
    queueReason({
      paused: queue?.pausedAt != null,
      served: workers.some((worker) => serves(worker, name)),
      full:
        running.isLimitReached ||
        (running.byQueue.get(name) ?? 0) >= (queue?.concurrency ?? Number.POSITIVE_INFINITY),
      rateReached: queue?.rate != null && availableTokens(queue.rate, queue.tokens, now).tokens < 1,
    });
  const queues = new Map(limited.map((queue) => [queue.name, reasonOf(queue.name, queue)]));
  for (const name of [HOOK_QUEUE, ...workers.flatMap((worker) => worker.queues ?? [])])
    if (!queues.has(name)) queues.set(name, reasonOf(name));
  const served = workers.some((worker) => worker.queues === null);
  return {
    now,
    queues,
    otherQueues: queueReason({ paused: false, served, full: running.isLimitReached, rateReached: false }),
  };
}

/** Counts the running jobs of the queues with a concurrency limit, and compares those of all queues with their limit. */
async function countRunning(app: App, limited: QueueRow[]) {
  const byQueue = new Map<string, number>();
  const names = limited.filter(({ concurrency }) => concurrency !== null).map(({ name }) => name);
  if (names.length > 0)
    for (const { queue, state, jobs } of await app.store.counts(names))
      if (state === 'processing') byQueue.set(queue, jobs);
  const maxJobs = (await currentSettings(app))['max-concurrent-jobs'];
  if (maxJobs === null) return { byQueue, isLimitReached: false };
  const { processing } = await app.store.stateCounts();
  return { byQueue, isLimitReached: processing >= maxJobs };
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
 * Replaces the age and the waiting reasons of a filter by conditions that the store can look up. Also returns the circumstances that it
 * read, so that the jobs are shown with the reasons by which they were found.
 */
export async function resolveFilter(
  app: App,
  { waitingFor, olderThanMs, ...criteria }: JobFilter,
): Promise<{ storeFilter: StoreFilter; circumstances?: Circumstances }> {
  const filter: StoreFilter = { ...criteria };
  if (olderThanMs !== undefined) filter.createdBefore = app.clock.now() - olderThanMs;
  if (waitingFor === undefined) return { storeFilter: filter };
  const circumstances = await readCircumstances(app);
  const names = (await app.store.queues()).map(({ name }) => name);
  return {
    storeFilter: { ...filter, waiting: selectWaiting(waitingFor, circumstances, names) },
    circumstances,
  };
}

/** Counts the waiting jobs of each queue by reason. The cost grows with the number of held, blocked and not yet due jobs. */
export async function countReasons(app: App) {
  const circumstances = await readCircumstances(app);
  const { now, queues, otherQueues } = circumstances;
  const counts = new Map<string, ReasonCounts>();
  const countsOf = (queue: string): ReasonCounts => {
    const found = counts.get(queue) ?? zeroReasonCounts();
    counts.set(queue, found);
    return found;
  };
  const dueByQueue = waitingByQueue(await app.store.counts());
  for (const { queue, ...ownCounts } of await app.store.setAsideCounts(now)) {
    Object.assign(countsOf(queue), ownCounts);
    dueByQueue.set(queue, (dueByQueue.get(queue) ?? 0) - sumOf(ownCounts));
  }
  // The store may change between the two reads, so a difference may be negative.
  for (const [queue, jobs] of dueByQueue)
    countsOf(queue)[queues.get(queue) ?? otherQueues] += Math.max(0, jobs);
  return [...counts].map(([queue, jobs]) => ({ queue, jobs }));
}

function waitingByQueue(counts: QueueCount[]): Map<string, number> {
  const jobs = new Map<string, number>();
  for (const count of counts)
    if (isWaiting(count)) jobs.set(count.queue, (jobs.get(count.queue) ?? 0) + count.jobs);
  return jobs;
}

function sumOf(counts: Record<OwnReason, number>): number {
  return OWN_REASONS.reduce((sum, reason) => sum + counts[reason], 0);
}

/** Returns sentences that explain why these jobs do not start: a queue is paused, or no worker serves it. */
export async function whyQueuesStandStill(app: App, jobs: Pick<Job, 'queue'>[]): Promise<string[]> {
  const queues = [...new Set(jobs.map((job) => job.queue))];
  const reasons: string[] = [];
  for (const { name, pausedAt, pausedBy } of await app.store.queues()) {
    if (pausedAt !== null && queues.includes(name))
      reasons.push(
        `queue ${name} was paused at ${toIso(pausedAt)} by ${pausedBy}; to resume it: queuectl queue resume ${shellWord(name)}`,
      );
  }
  const active = await activeWorkers(app);
  if (active.length === 0) return [...reasons, 'no worker is running; to start one: queuectl worker start'];
  const workers = active.filter(takesJobs);
  if (workers.length === 0)
    return [...reasons, 'all workers are stopping; to start another one: queuectl worker start'];
  const unserved = queues.filter((name) => !workers.some((worker) => serves(worker, name)));
  if (unserved.length > 0) {
    const list = unserved.join(',');
    reasons.push(
      `no worker serves queue ${list}; to start one: queuectl worker start --queue ${shellWord(list)}`,
    );
  }
  return reasons;
}
