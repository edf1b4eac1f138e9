import type { StoreFilter } from '../../core/filter.ts';
import type { ListedJob, Page } from '../contract/jobs.ts';
import type { Connection, Row } from './connection.ts';
import { toListedJob } from './rows.ts';
import { newestJob, planScans, type ScanPlan, type Values } from './scan-plan.ts';
import * as sql from './sql/jobs.ts';

export const END = Number.MAX_SAFE_INTEGER;

function within(
  plan: ScanPlan,
  { before, above }: Pick<Page, 'before' | 'above'>,
): { extra: string; values: Values } {
  const floor = Math.max(above ?? 0, plan.floor);
  if (floor === 0) return { extra: plan.extra, values: [before ?? END, ...plan.values] };
  return { extra: ` AND job.number > ?${plan.extra}`, values: [before ?? END, floor, ...plan.values] };
}

export function list(db: Connection, filter: StoreFilter, page: Page): ListedJob[] {
  const { limit } = page;
  const found = planScans(db, filter);
  if (found === null) return [];
  let rows: Row[] = [];
  let floor = page.above ?? 0;
  for (const { by, keys } of found.scans) {
    const { extra, values } = within(found, { ...page, above: floor });
    rows.push(...db.all(sql.list[by](extra), ...keys, ...values, limit));
    if (found.scans.length === 1) break;
    rows = rows.sort((a, b) => (b.number as number) - (a.number as number)).slice(0, limit);
    // Once the page is full, the other scans only look for newer jobs.
    if (rows.length === limit) floor = rows.at(-1)!.number as number;
  }
  return rows.map(toListedJob);
}

export function count(
  db: Connection,
  filter: StoreFilter,
  most: number,
  page: Pick<Page, 'before' | 'above'> = {},
): number {
  const found = planScans(db, filter);
  if (found === null) return 0;
  const { extra, values } = within(found, page);
  let jobs = 0;
  for (const { by, keys } of found.scans) {
    if (jobs >= most) break;
    jobs += db.get(sql.countJobs[by](extra), ...keys, ...values, most - jobs)!.jobs as number;
  }
  return jobs;
}

export function scanEnd(db: Connection, filter: StoreFilter, many: number, before = END): number {
  const found = planScans(db, filter);
  if (found === null) return 0;
  const share = Math.ceil(many / found.scans.length);
  const ends = found.scans.map(({ by, keys }) =>
    by === 'all'
      ? Math.min(before - 1, newestJob(db)) - many
      : ((db.get(sql.scanEnd[by], ...keys, before, share)?.number as number | undefined) ?? 0),
  );
  const end = Math.max(0, ...ends);
  return end > found.floor ? end : 0;
}
