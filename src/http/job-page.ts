import type { App } from '../actions/app.ts';
import { type JobCount, pageOfJobs } from '../actions/page-of-jobs.ts';
import type { JobFilter } from '../core/filter.ts';
import type { JobObject } from '../core/job-object.ts';
import { maskedListedJob } from './masked-objects.ts';
import { refuse } from './problem.ts';
import { numberOf, type QueryReader } from './query.ts';

export const PAGE_QUERIES: Record<string, string> = {
  limit: '1 to 1000 (50)',
  cursor:
    'the next_cursor of the previous page. There may be more pages until it is null, even after a page without jobs',
};

const LIMIT = { min: 1, max: 1000, integer: true };
const DEFAULT_LIMIT = 50;

interface JobPage {
  jobs: JobObject[];
  next_cursor: string | null;
  count: JobCount;
}

export async function jobPage(app: App, filter: JobFilter, { one }: { one: QueryReader }): Promise<JobPage> {
  const limit = numberOf(one, 'limit', LIMIT, DEFAULT_LIMIT);
  const from = readCursor(one('cursor'));
  const { jobs, next, count } = await pageOfJobs(app, filter, from, limit);
  return { jobs: jobs.map(maskedListedJob), next_cursor: next === null ? null : String(next), count };
}

function readCursor(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,14}$/.test(text))
    refuse('invalid-request', 'cursor must be the next_cursor of an earlier page');
  return Number(text);
}
