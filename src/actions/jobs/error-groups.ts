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
  const groups = new Map<string, DeadJob[]>();
  let examined = 0;
  for await (const page of deadJobs(app)) {
    for (const job of page) {
      const signature = signatureOf(job);
      const group = groups.get(signature);
      if (group === undefined) groups.set(signature, [job]);
      else group.push(job);
    }
    examined += page.length;
  }
  return {
    groups: [...groups]
      .map(([signature, jobs]) => toGroupObject(signature, jobs, now))
      .sort((a, b) => b.jobs - a.jobs || b.last_at.localeCompare(a.last_at)),
    looked_at: examined,
    capped: examined === MAX_JOBS,
  };
}

/** Searches the newest dead jobs for errors with this signature. Returns the ids of the jobs, oldest first. */
export async function jobIdsOfGroup(app: App, signature: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of deadJobs(app))
    for (const job of page) if (signatureOf(job) === signature) ids.push(job.id);
  return ids.reverse();
}

/** Reads up to MAX_JOBS dead jobs in pages, newest first. */
async function* deadJobs(app: App): AsyncGenerator<DeadJob[]> {
  let before = Number.MAX_SAFE_INTEGER;
  for (let remaining = MAX_JOBS; remaining > 0; remaining -= PAGE_SIZE) {
    const jobs = await app.store.deadJobs(PAGE_SIZE, before);
    yield jobs;
    if (jobs.length < PAGE_SIZE) return;
    before = jobs.at(-1)!.number;
    await new Promise((resolve) => setImmediate(resolve));
  }
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
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, NAMES_PER_GROUP)
    .map(([value]) => value);
}
