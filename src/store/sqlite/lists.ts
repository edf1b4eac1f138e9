import type { StoreFilter } from '../../core/jobs/filter.ts';
import type { ListedJob, Page } from '../contract/jobs.ts';
import type { Row } from '../row.ts';
import { toListedJob } from '../rows.ts';
import type { Connection } from './connection.ts';
import { newestJobNumber, planScans, type ScanPlan, type Values } from './scan-plan.ts';
import * as sql from './sql/jobs.ts';

/** The default of `before`. Every job has a lower number. */
export const MAX_NUMBER = Number.MAX_SAFE_INTEGER;

type Bounds = Pick<Page, 'before' | 'above'>;

/** Returns the conditions of a plan with bounds for the job numbers, and all values to bind. */
function withBounds(plan: ScanPlan, { before, above }: Bounds): { extra: string; values: Values } {
  const floor = Math.max(above ?? 0, plan.floor);
  if (floor === 0) return { extra: plan.extra, values: [before ?? MAX_NUMBER, ...plan.values] };
  return { extra: ` AND job.number > ?${plan.extra}`, values: [before ?? MAX_NUMBER, floor, ...plan.values] };
}

export function list(db: Connection, filter: StoreFilter, page: Page): ListedJob[] {
  const { limit } = page;
  const plan = planScans(db, filter);
  if (plan === null) return [];
  let rows: Row[] = [];
  let floor = page.above ?? 0;
  for (const { by, keys } of plan.scans) {
    const { extra, values } = withBounds(plan, { ...page, above: floor });
    rows.push(...db.all(sql.list[by](extra), ...keys, ...values, limit));
    if (plan.scans.length === 1) break;
    rows = rows.sort((a, b) => (b.number as number) - (a.number as number)).slice(0, limit);
    // Once the page is full, the other scans only look for newer jobs.
    if (rows.length === limit) floor = rows.at(-1)!.number as number;
  }
  return rows.map(toListedJob);
}

export function count(db: Connection, filter: StoreFilter, most: number, page: Bounds = {}): number {
  const plan = planScans(db, filter);
  if (plan === null) return 0;
  const { extra, values } = withBounds(plan, page);
  let jobs = 0;
  for (const { by, keys } of plan.scans) {
    if (jobs >= most) break;
    jobs += db.get(sql.countJobs[by](extra), ...keys, ...values, most - jobs)!.jobs as number;
  }
  return jobs;
}

export function scanEnd(db: Connection, filter: StoreFilter, limit: number, before = MAX_NUMBER): number {
  const plan = planScans(db, filter);
  if (plan === null) return 0;
  const share = Math.ceil(limit / plan.scans.length);
  const ends = plan.scans.map(({ by, keys }) =>
    by === 'all'
      ? Math.min(before - 1, newestJobNumber(db)) - limit
      : ((db.get(sql.scanEnd[by], ...keys, before, share)?.number as number | undefined) ?? 0),
  );
  const end = Math.max(0, ...ends);
  return end > plan.floor ? end : 0;
}
