import type { JobFilter, StoreFilter } from '../core/filter.ts';
import type { JobWithReason } from '../core/waiting-reason.ts';
import type { ListedJob } from '../store/contract/jobs.ts';
import type { App } from './app.ts';
import { countJobs, isCounted } from './jobs.ts';
import { resolveFilter, withReasons } from './waiting-reasons.ts';

/** If the counters cannot answer, at most this many jobs are counted. */
const COUNTED = 10_000;

export interface JobCount {
  value: number;
  /** Tells whether there may be more. */
  capped: boolean;
}

/** Returns a page of jobs below `from` (null means the newest), where the next page begins, and how many jobs match. */
export async function pageOfJobs(
  app: App,
  filter: JobFilter,
  from: number | null,
  limit: number,
): Promise<{ jobs: (ListedJob & JobWithReason)[]; next: number | null; count: JobCount }> {
  const until = app.clock.monotonic() + PATIENCE_MS;
  const { where, around } = await resolveFilter(app, filter);
  const { jobs, end } = await look(app, where, from ?? NEWEST, limit, until);
  // The first page has counted what it has seen.
  const seen = from === null ? { value: jobs.length, before: end + 1 } : { value: 0, before: NEWEST };
  const { value, capped } = isCounted(filter)
    ? { value: await countJobs(app, filter), capped: false }
    : await count(app, where, seen, until);
  return {
    jobs: await withReasons(app, jobs, around),
    next: end > 0 ? end + 1 : null,
    count: { value: Math.max(value, jobs.length), capped },
  };
}

/** A page that has to look at every job stops after this time, and the next page goes on. */
const PATIENCE_MS = 15;
/** Other requests are served after each stretch, which grows until it takes STRETCH_MS. */
const STRETCH = 1000;
const STRETCH_MS = 2;
const NEWEST = Number.MAX_SAFE_INTEGER;

/** Tells whether the indexes alone cannot answer the filter. */
function needsLooking({ states: _, queue: __, name: ___, ...other }: StoreFilter): boolean {
  return Object.keys(other).length > 0;
}

/** Divides the jobs below `from` into stretches, down to the first job (`above` is 0) or until the time is up. */
async function* stretches(
  app: App,
  filter: StoreFilter,
  from: number,
  until: number,
): AsyncGenerator<{ before: number; above: number }> {
  if (!needsLooking(filter)) return yield { before: from, above: 0 };
  let many = STRETCH;
  for (let before = from; ; ) {
    const start = app.clock.monotonic();
    const above = await app.store.scanEnd(filter, many, before);
    yield { before, above };
    const now = app.clock.monotonic();
    if (above === 0 || now > until) return;
    if (now - start < STRETCH_MS) many *= 2;
    before = above + 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Finds jobs. `end` is the number down to which it has looked; 0 means to the first job. */
async function look(
  app: App,
  filter: StoreFilter,
  from: number,
  limit: number,
  until: number,
): Promise<{ jobs: ListedJob[]; end: number }> {
  const jobs: ListedJob[] = [];
  let end = 0;
  for await (const stretch of stretches(app, filter, from, until)) {
    jobs.push(...(await app.store.list(filter, { limit: limit - jobs.length, ...stretch })));
    end = stretch.above;
    if (jobs.length === limit) return { jobs, end: jobs.at(-1)!.number - 1 };
  }
  return { jobs, end };
}

/** Counts what the counters do not know up to COUNTED, and until the time is up. */
async function count(
  app: App,
  filter: StoreFilter,
  seen: { value: number; before: number },
  until: number,
): Promise<JobCount> {
  let { value } = seen;
  // The page has seen all jobs.
  if (seen.before === 1) return { value, capped: false };
  for await (const stretch of stretches(app, filter, seen.before, until)) {
    value += await app.store.count(filter, COUNTED - value, stretch);
    if (value >= COUNTED || stretch.above === 0) return { value, capped: value >= COUNTED };
  }
  return { value, capped: true };
}
