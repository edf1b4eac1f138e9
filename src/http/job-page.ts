import type { App } from '../actions/app.ts';
import { countJobs } from '../actions/jobs.ts';
import type { JobFilter } from '../core/filter.ts';
import type { JobObject } from '../core/job-object.ts';
import type { ListedJob } from '../store/contract/jobs.ts';
import { refuse } from './problem.ts';
import { numberOf } from './query.ts';
import { listedJob } from './shown.ts';

export const PAGE_QUERIES: Record<string, string> = {
  limit: '1 to 1000 (50)',
  cursor:
    'the next_cursor of the page before; until it is null there may be more, even behind a page without jobs',
};

const LIMIT = { min: 1, max: 1000, integer: true };
const DEFAULT = 50;
/** Where the counters do not know it, at most so many are counted; `capped`: there may be more. */
const COUNTED = 10_000;

interface JobPage {
  jobs: JobObject[];
  next_cursor: string | null;
  count: { value: number; capped: boolean };
}

export async function jobPage(
  app: App,
  filter: JobFilter,
  { one }: { one(name: string): string | undefined },
): Promise<JobPage> {
  const limit = numberOf(one, 'limit', LIMIT, DEFAULT);
  const from = readCursor(one('cursor'));
  const until = app.clock.monotonic() + PATIENCE_MS;
  const { jobs, end } = await look(app, filter, from ?? NEWEST, limit, until);
  // What the first page has seen is counted already.
  const seen = from === null ? { value: jobs.length, before: end + 1 } : { value: 0, before: NEWEST };
  const { value, capped } = await count(app, filter, seen, until);
  return {
    jobs: jobs.map(listedJob),
    next_cursor: end > 0 ? String(end + 1) : null,
    count: { value: Math.max(value, jobs.length), capped },
  };
}

/** Where every job has to be looked at, a request does so for so long; then the next page goes on. */
const PATIENCE_MS = 15;
/** Others are served after each stretch, which grows until it takes so long. */
const STRETCH = 1000;
const STRETCH_MS = 2;
const NEWEST = Number.MAX_SAFE_INTEGER;

/** What the indexes do not answer by themselves. */
function needsLooking({ states: _, queue: __, name: ___, ...other }: JobFilter): boolean {
  return Object.keys(other).length > 0;
}

/** The jobs below `before`, stretch by stretch, down to the very first (`above` is 0) or until the time is up. */
async function* stretches(
  app: App,
  filter: JobFilter,
  from: number,
  until: number,
): AsyncGenerator<{ before: number; above: number }> {
  if (!needsLooking(filter)) return yield { before: from, above: 0 };
  let many = STRETCH;
  for (let before = from; ; ) {
    const start = app.clock.monotonic();
    const above = await app.store.reach(filter, many, before);
    yield { before, above };
    const now = app.clock.monotonic();
    if (above === 0 || now > until) return;
    if (now - start < STRETCH_MS) many *= 2;
    before = above + 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** `end`: how far down it has looked; 0: to the very first job. */
async function look(
  app: App,
  filter: JobFilter,
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

function readCursor(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,14}$/.test(text)) refuse('invalid-request', 'cursor must be the next_cursor of a page');
  return Number(text);
}

/** Whole states and queues are known from the counters; anything else is counted, and not for ever. */
async function count(
  app: App,
  filter: JobFilter,
  seen: { value: number; before: number },
  until: number,
): Promise<JobPage['count']> {
  const { states: _, queue: __, ...other } = filter;
  if (Object.keys(other).length === 0) return { value: await countJobs(app, filter), capped: false };
  let { value } = seen;
  // All was seen.
  if (seen.before === 1) return { value, capped: false };
  for await (const stretch of stretches(app, filter, seen.before, until)) {
    value += await app.store.count(filter, COUNTED - value, stretch);
    if (value >= COUNTED || stretch.above === 0) return { value, capped: value >= COUNTED };
  }
  return { value, capped: true };
}
