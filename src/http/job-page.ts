import type { App } from '../actions/app.ts';
import { countJobs } from '../actions/jobs.ts';
import type { JobFilter } from '../core/filter.ts';
import type { JobObject } from '../core/job-object.ts';
import { parseNumber } from '../core/numbers.ts';
import type { ListedJob } from '../store/store.ts';
import { refuse } from './problem.ts';
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
  const limit = one('limit') === undefined ? DEFAULT : parseNumber(one('limit')!, 'limit', LIMIT);
  const from = readCursor(one('cursor'));
  const { jobs, end } = await look(app, filter, from, limit);
  const full = jobs.length === limit;
  const known = from === null && !full && end === 0;
  return {
    jobs: jobs.map(listedJob),
    next_cursor: full ? String(jobs.at(-1)!.number) : end > 0 ? String(end + 1) : null,
    count: known ? { value: jobs.length, capped: false } : await count(app, filter),
  };
}

/** Where every job has to be looked at, at most so many at once and for so long: then the next page goes on. */
const STRETCH = 10_000;
const PATIENCE_MS = 15;

/** What the indexes do not answer by themselves. A search has bounds of its own. */
function needsLooking({ states: _, queue: __, name: ___, text, ...other }: JobFilter): boolean {
  return text === undefined && Object.keys(other).length > 0;
}

/** `end`: how far down it has looked; 0: to the very first job. */
async function look(
  app: App,
  filter: JobFilter,
  from: number | null,
  limit: number,
): Promise<{ jobs: ListedJob[]; end: number }> {
  const start = app.clock.monotonic();
  const jobs: ListedJob[] = [];
  for (let before = from ?? Number.MAX_SAFE_INTEGER; ; ) {
    const above = needsLooking(filter) ? await app.store.reach(filter, STRETCH, before) : 0;
    jobs.push(...(await app.store.list(filter, { limit: limit - jobs.length, before, above })));
    const late = app.clock.monotonic() - start > PATIENCE_MS;
    if (above === 0 || jobs.length === limit || late) return { jobs, end: above };
    before = above + 1;
  }
}

function readCursor(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,14}$/.test(text)) refuse('invalid-request', 'cursor must be the next_cursor of a page');
  return Number(text);
}

/** Whole states and queues are known from the counters; anything else is counted, and not for ever. */
async function count(app: App, filter: JobFilter): Promise<JobPage['count']> {
  const { states: _, queue: __, ...other } = filter;
  if (Object.keys(other).length === 0) return { value: await countJobs(app, filter), capped: false };
  const start = app.clock.monotonic();
  let value = 0;
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const above = needsLooking(filter) ? await app.store.reach(filter, STRETCH, before) : 0;
    value += await app.store.count(filter, COUNTED - value, { before, above });
    const late = app.clock.monotonic() - start > PATIENCE_MS;
    if (above === 0 || value === COUNTED || late) return { value, capped: above > 0 || value === COUNTED };
    before = above + 1;
  }
}
