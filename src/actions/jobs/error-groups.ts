import { errorSignature } from '../../core/text/error-line.ts';
import { toIso } from '../../core/time/time.ts';
import type { ErrorGroupObject, ErrorGroups } from '../../core/wire/wire.ts';
import type { DeadJob } from '../../store/contract/jobs.ts';
import type { App } from '../app.ts';

/** At most this many of the newest dead jobs are read, so that the cost is bounded. */
const MAX_JOBS = 10_000;
const HOUR_MS = 3_600_000;
/** A group lists at most this many names of jobs and this many queues, the most common ones. */
const NAMES_PER_GROUP = 3;
/** Dead jobs are read in pages of this size. Other requests are served after each page. */
const PAGE_SIZE = 1000;

/** Groups the newest dead jobs by the signature of their error, the largest group first. */
export async function errorGroups(app: App): Promise<ErrorGroups> {
  const now = app.clock.now();
  const jobs = await newestDeadJobs(app);
  return {
    groups: [...Map.groupBy(jobs, signatureOf)]
      .map(([signature, similar]) => toGroupObject(signature, similar, now))
      .sort((a, b) => b.jobs - a.jobs || b.last_at.localeCompare(a.last_at)),
    looked_at: jobs.length,
    capped: jobs.length === MAX_JOBS,
  };
}

/** Searches the newest dead jobs for errors with this signature. Returns the ids of the jobs, oldest first. */
export async function jobIdsOfGroup(app: App, signature: string): Promise<string[]> {
  const similar = (await newestDeadJobs(app)).filter((job) => signatureOf(job) === signature);
  return similar.map((job) => job.id).reverse();
}

/** Reads up to MAX_JOBS dead jobs in pages, newest first. */
async function newestDeadJobs(app: App): Promise<DeadJob[]> {
  const jobs: DeadJob[] = [];
  while (jobs.length < MAX_JOBS) {
    const page = await app.store.deadJobs(PAGE_SIZE, jobs.at(-1)?.number ?? Number.MAX_SAFE_INTEGER);
    jobs.push(...page);
    if (page.length < PAGE_SIZE) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return jobs;
}

/** Caches the signature of each error, because every request reads the same errors again. */
const signatures = new Map<string, string>();

function signatureOf(job: DeadJob): string {
  const error = job.error ?? '';
  const cached = signatures.get(error);
  if (cached !== undefined) return cached;
  const signature = errorSignature(error);
  if (signatures.size >= 2 * MAX_JOBS) signatures.clear();
  signatures.set(error, signature);
  return signature;
}

function toGroupObject(signature: string, jobs: DeadJob[], now: number): ErrorGroupObject {
  const endTimes = jobs.map((job) => job.at);
  const countWithin = (ms: number): number => endTimes.filter((at) => at > now - ms).length;
  const newest = jobs[0]!;
  return {
    signature,
    jobs: jobs.length,
    last_hour: countWithin(HOUR_MS),
    last_3_hours: countWithin(3 * HOUR_MS),
    last_day: countWithin(24 * HOUR_MS),
    last_3_days: countWithin(72 * HOUR_MS),
    last_week: countWithin(168 * HOUR_MS),
    first_at: toIso(endTimes.reduce((a, b) => Math.min(a, b))),
    last_at: toIso(endTimes.reduce((a, b) => Math.max(a, b))),
    sample_id: newest.id,
    sample_error: newest.error ?? '',
    names: mostCommon(jobs.flatMap((job) => job.name ?? [])),
    queues: mostCommon(jobs.map((job) => job.queue)),
  };
}

function mostCommon(values: string[]): string[] {
  return [...Map.groupBy(values, (value) => value)]
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, NAMES_PER_GROUP)
    .map(([value]) => value);
}
