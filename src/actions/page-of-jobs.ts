import type { JobFilter, StoreFilter } from '../core/filter.ts';
import type { ListedJob } from '../store/contract/jobs.ts';
import type { App } from './app.ts';
import { countersCover, countJobs } from './jobs.ts';
import { resolveFilter, withReasons } from './waiting-reasons.ts';

/** At most this many jobs are counted if the counters do not cover the filter. */
const MAX_COUNTED = 10_000;

export interface JobCount {
  value: number;
  /** Tells whether more jobs than `value` may match. */
  capped: boolean;
}

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

/** Counts matching jobs, up to MAX_COUNTED and until the deadline. `counted` has the result for numbers from `counted.before` up. */
async function countMatches(
  app: App,
  filter: StoreFilter,
  counted: { value: number; before: number },
  deadline: number,
): Promise<JobCount> {
  let { value } = counted;
  // The page has already searched all jobs.
  if (counted.before === 1) return { value, capped: false };
  for await (const stretch of stretches(app, filter, counted.before, deadline)) {
    value += await app.store.count(filter, MAX_COUNTED - value, stretch);
    if (value >= MAX_COUNTED || stretch.above === 0) return { value, capped: value >= MAX_COUNTED };
  }
  return { value, capped: true };
}
