import type { JobFilter, StoreFilter } from '../core/filter.ts';
import type { JobWithReason } from '../core/waiting-reason.ts';
import type { ListedJob } from '../store/contract/jobs.ts';
import type { App } from './app.ts';
import { countJobs, isCounted } from './jobs.ts';
import { resolveFilter, withReasons } from './waiting-reasons.ts';

/** If the counters cannot answer, at most this many jobs are counted. */
const MAX_COUNTED = 10_000;

export interface JobCount {
  value: number;
  /** Tells whether more jobs than `value` may match. */
  capped: boolean;
}

/** Returns matching jobs with numbers below `from`, or the newest for null. `next` is the `from` of the next page. */
export async function pageOfJobs(
  app: App,
  filter: JobFilter,
  from: number | null,
  limit: number,
): Promise<{ jobs: (ListedJob & JobWithReason)[]; next: number | null; count: JobCount }> {
  const deadline = app.clock.monotonic() + TIME_LIMIT_MS;
  const { where, around } = await resolveFilter(app, filter);
  const { jobs, end } = await search(app, where, from ?? ABOVE_NEWEST, limit, deadline);
  // The search for the first page has already counted the matching jobs above `end`.
  const seen = from === null ? { value: jobs.length, before: end + 1 } : { value: 0, before: ABOVE_NEWEST };
  const { value, capped } = isCounted(filter)
    ? { value: await countJobs(app, filter), capped: false }
    : await countMatches(app, where, seen, deadline);
  return {
    jobs: await withReasons(app, jobs, around),
    next: end > 0 ? end + 1 : null,
    count: { value: Math.max(value, jobs.length), capped },
  };
}

/** A search that looks at job after job stops after this time. The next page continues it. */
const TIME_LIMIT_MS = 15;
/** Jobs are searched in stretches, and other requests are served after each. The first stretch has this many jobs. */
const FIRST_STRETCH = 1000;
/** The next stretch is twice as long if a stretch takes less than this time. */
const SHORT_STRETCH_MS = 2;
const ABOVE_NEWEST = Number.MAX_SAFE_INTEGER;

/** Divides the jobs below `from` into stretches until the deadline. The one that reaches the first job has `above` 0. */
async function* stretches(
  app: App,
  filter: StoreFilter,
  from: number,
  deadline: number,
): AsyncGenerator<{ before: number; above: number }> {
  const { states: _, queue: __, name: ___, ...other } = filter;
  // The indexes alone can answer a filter by state, queue and name, so one stretch has all jobs.
  if (Object.keys(other).length === 0) return yield { before: from, above: 0 };
  let many = FIRST_STRETCH;
  for (let before = from; ; ) {
    const start = app.clock.monotonic();
    const above = await app.store.scanEnd(filter, many, before);
    yield { before, above };
    const now = app.clock.monotonic();
    if (above === 0 || now > deadline) return;
    if (now - start < SHORT_STRETCH_MS) many *= 2;
    before = above + 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Finds matching jobs. All jobs above the number `end` were searched, so 0 means all jobs. */
async function search(
  app: App,
  filter: StoreFilter,
  from: number,
  limit: number,
  deadline: number,
): Promise<{ jobs: ListedJob[]; end: number }> {
  const jobs: ListedJob[] = [];
  let end = 0;
  for await (const stretch of stretches(app, filter, from, deadline)) {
    jobs.push(...(await app.store.list(filter, { limit: limit - jobs.length, ...stretch })));
    end = stretch.above;
    if (jobs.length === limit) return { jobs, end: jobs.at(-1)!.number - 1 };
  }
  return { jobs, end };
}

/** Counts matching jobs that the counters do not have, up to MAX_COUNTED and until the deadline. */
async function countMatches(
  app: App,
  filter: StoreFilter,
  seen: { value: number; before: number },
  deadline: number,
): Promise<JobCount> {
  let { value } = seen;
  // The page has already searched all jobs.
  if (seen.before === 1) return { value, capped: false };
  for await (const stretch of stretches(app, filter, seen.before, deadline)) {
    value += await app.store.count(filter, MAX_COUNTED - value, stretch);
    if (value >= MAX_COUNTED || stretch.above === 0) return { value, capped: value >= MAX_COUNTED };
  }
  return { value, capped: true };
}
