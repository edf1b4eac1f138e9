import { type Condition, type JobFilter, SEARCHED } from '../../core/filter.ts';
import { STATES, type State } from '../../core/job.ts';
import type { ListedJob, Page } from '../contract/jobs.ts';
import type { Connection, Row } from './connection.ts';
import { toListedJob } from './rows.ts';
import * as sql from './sql/jobs.ts';
import { queueNumber } from './sql/queues.ts';

type Values = (string | number)[];

/** One index scan with its keys. The scans of one plan find different jobs. */
interface IndexScan {
  by: 'all' | 'byName' | 'byQueueAndState';
  keys: Values;
}

interface ScanPlan {
  scans: IndexScan[];
  /** Further conditions, which are checked job by job. */
  extra: string;
  values: Values;
  /** Jobs up to this number are left out, because a text search covers only the newest jobs. */
  floor: number;
}

/** Chooses the index scans for a filter. Returns null if its queue does not exist. */
function planScans(db: Connection, filter: JobFilter): ScanPlan | null {
  const { text, values } = conditionsOf(filter);
  const queue =
    filter.queue === undefined ? undefined : (db.get(queueNumber, filter.queue)?.number as number);
  if (filter.queue !== undefined && queue === undefined) return null;
  const states = filter.states?.length ? [...new Set(filter.states)] : null;
  // A name is the most selective key, and a text search reads the newest jobs in order. The + keeps SQLite from using other indexes.
  if (filter.name !== undefined || filter.text !== undefined) {
    const inQueue = queue === undefined ? '' : ' AND +job.queue = ?';
    const inStates = states === null ? '' : ` AND +state IN (${states.map(() => '?').join(', ')})`;
    const allValues = [...(queue === undefined ? [] : [queue]), ...(states ?? []), ...values];
    const scan: IndexScan =
      filter.name === undefined ? { by: 'all', keys: [] } : { by: 'byName', keys: [filter.name] };
    const floor = filter.text === undefined ? 0 : Math.max(0, newestJob(db) - SEARCHED);
    return { scans: [scan], extra: `${inQueue}${inStates}${text}`, values: allValues, floor };
  }
  if (queue === undefined && states === null)
    return { scans: [{ by: 'all', keys: [] }], extra: text, values, floor: 0 };
  const scans = (states ?? STATES).flatMap((state) =>
    (queue === undefined ? queuesOf(db, state) : [queue]).map(
      (number): IndexScan => ({ by: 'byQueueAndState', keys: [number, state] }),
    ),
  );
  return { scans, extra: text, values, floor: 0 };
}

/** Returns the queues that have jobs of this state. An index by state alone would slow down every change of a job. */
function queuesOf(db: Connection, state: State): number[] {
  return db.all(sql.queuesOfState, state).map((row) => row.queue as number);
}

function newestJob(db: Connection): number {
  return (db.get(sql.newestJob)?.number as number | null) ?? 0;
}

export const END = Number.MAX_SAFE_INTEGER;

function within(
  plan: ScanPlan,
  { before, above }: Pick<Page, 'before' | 'above'>,
): { extra: string; values: Values } {
  const floor = Math.max(above ?? 0, plan.floor);
  if (floor === 0) return { extra: plan.extra, values: [before ?? END, ...plan.values] };
  return { extra: ` AND job.number > ?${plan.extra}`, values: [before ?? END, floor, ...plan.values] };
}

export function list(db: Connection, filter: JobFilter, page: Page): ListedJob[] {
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
  filter: JobFilter,
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

export function scanEnd(db: Connection, filter: JobFilter, many: number, before = END): number {
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

const COLUMNS: Record<Condition['field'], string> = {
  attempts: 'attempts',
  crashes: 'crashes',
  priority: 'priority',
  max_retries: 'max_retries',
  exit_code: 'exit_code',
  duration: 'duration_ms',
};

/** Joins the searched columns, so that a search costs one comparison for each job. No id or name contains the separator. */
const SEARCHED_TEXT = 'concat_ws(char(31), id, command, job.name, tags, last_error)';

/** Returns the conditions of a filter except name, state and queue, which choose the index. User text is always a bound value. */
function conditionsOf(filter: JobFilter): { text: string; values: Values } {
  const parts: string[] = [];
  const values: Values = [];
  const add = (text: string, ...given: Values): void => {
    parts.push(` AND ${text}`);
    values.push(...given);
  };
  for (const [key, value] of Object.entries(filter.tags ?? {})) {
    // The cheap text comparison comes first, so that few rows are parsed as JSON.
    add('instr(tags, ?) > 0', JSON.stringify(value));
    add('EXISTS (SELECT 1 FROM json_each(tags) WHERE key = ? AND value = ?)', key, value);
  }
  if (filter.createdBefore !== undefined) add('created_at < ?', filter.createdBefore);
  // LIKE would treat % and _ in an error as wildcards, so instr is used.
  if (filter.error !== undefined) add('instr(lower(last_error), lower(?)) > 0', filter.error);
  if (filter.exitCode !== undefined) add('exit_code = ?', filter.exitCode);
  for (const { field, operator, value } of filter.conditions ?? [])
    add(`${COLUMNS[field]} ${operator} ?`, value);
  if (filter.text !== undefined)
    add(`${SEARCHED_TEXT} LIKE ? ESCAPE '\\'`, `%${filter.text.replaceAll(/[\\%_]/g, '\\$&')}%`);
  return { text: parts.join(''), values };
}
