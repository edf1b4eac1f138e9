import type { StoreFilter } from '../../core/jobs/filter.ts';
import type { ListedJob, Page } from '../contract/jobs.ts';
import { toListedJob } from '../rows.ts';
import { MAX_DUE } from '../set-aside.ts';
import { type Bind, newBinder } from './binder.ts';
import { type IndexScans, newestJobNumber, planScans } from './scan-plan.ts';
import * as sql from './sql/lists.ts';
import type { Transaction } from './transaction.ts';

/** The default of `before`. Every job has a lower number. */
export const MAX_NUMBER = Number.MAX_SAFE_INTEGER;

type Bounds = Pick<Page, 'before' | 'above'>;

export async function list(tx: Transaction, filter: StoreFilter, page: Page): Promise<ListedJob[]> {
  const plan = await planScans(tx, filter);
  if (plan === null) return [];
  const { values, bind } = newBinder();
  const numbers = numbersOf(plan, filter, page, page.limit, bind);
  const rows = await tx.all(sql.page(numbers, bind(page.limit, 'bigint')), ...values);
  return rows.map(toListedJob);
}

export async function count(tx: Transaction, filter: StoreFilter, most: number, bounds: Bounds = {}) {
  const plan = await planScans(tx, filter);
  if (plan === null) return 0;
  const { values, bind } = newBinder();
  const numbers = numbersOf(plan, filter, bounds, most, bind);
  return (await tx.get<{ jobs: number }>(sql.count(numbers, bind(most, 'bigint')), ...values))!.jobs;
}

export async function scanEnd(
  tx: Transaction,
  filter: StoreFilter,
  limit: number,
  before = MAX_NUMBER,
): Promise<number> {
  const plan = await planScans(tx, filter);
  if (plan === null) return 0;
  const end =
    plan.scan === 'all'
      ? Math.min(before - 1, await newestJobNumber(tx)) - limit
      : await findScanEnd(tx, plan, filter, limit, before);
  return end > plan.floor ? end : 0;
}

async function findScanEnd(
  tx: Transaction,
  plan: IndexScans,
  filter: StoreFilter,
  limit: number,
  before: number,
): Promise<number> {
  const { values, bind } = newBinder();
  const unconditional = { ...plan, conditions: () => [] };
  const numbers = numbersOf(unconditional, filter, { before }, limit + 1, bind);
  const row = await tx.get<{ number: number }>(sql.scanEnd(numbers, bind(limit, 'bigint')), ...values);
  return row?.number ?? 0;
}

/** Returns a query for the numbers of the newest matching jobs of each scan, at least `limit` of them if there are as many. */
function numbersOf(plan: IndexScans, filter: StoreFilter, bounds: Bounds, limit: number, bind: Bind): string {
  const conditions = plan.conditions(bind);
  const range: sql.JobRange = {
    before: bind(bounds.before ?? MAX_NUMBER, 'bigint'),
    above: bind(Math.max(bounds.above ?? 0, plan.floor), 'bigint'),
    // The server cannot look into a CASE, so no condition makes it choose another index.
    extra:
      conditions.length === 0 ? '' : ` AND CASE WHEN ${conditions.join(' AND ')} THEN true ELSE false END`,
  };
  const most = literalLimit(limit);
  if (plan.scan === 'all') return sql.scans.all(range, most);
  if (plan.scan === 'byName') return sql.scans.byName(range, most, bind(filter.name!, 'text'));
  const { phases, due } = plan;
  const column = (name: 'queue' | 'state' | 'phase', type: string): string => {
    const values = phases.map((key) => key[name]);
    return bind(values, type);
  };
  const columns = [
    column('queue', 'bigint[]'),
    column('state', 'text[]'),
    column('phase', 'text[]'),
  ] as const;
  const byPhase = sql.scans.byPhase(range, most, ...columns);
  if (due.length === 0) return byPhase;
  const now = bind(filter.waiting!.now, 'bigint');
  return `${byPhase} UNION ALL (${sql.scans.byDue(range, most, bind(due, 'bigint[]'), now, MAX_DUE)})`;
}

/** Rounds a limit up to a power of two, because each literal limit makes another statement that the server has to plan. */
function literalLimit(limit: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, limit)));
}
