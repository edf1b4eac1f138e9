import { LATEST_DATE_MS } from '../../core/time.ts';
import { OWN } from './job-columns.ts';

type Range = readonly [min: number, max: number];

/** The cookies of attempts have numbers of at most 15 digits. It is also far below what JavaScript can count exactly. */
export const LARGEST_NUMBER = 999_999_999_999_999;
/** An import leaves room for all numbers that are still to come. */
export const LARGEST_IMPORTED = 1_000_000_000_000;

const NUMBER: Range = [1, LARGEST_NUMBER];
const COUNT: Range = [0, LARGEST_NUMBER];
const TIME: Range = [0, LATEST_DATE_MS];
const SPAN: Range = [1, LATEST_DATE_MS];
const CODE: Range = [-(2 ** 31), 2 ** 31 - 1];
const FLAG: Range = [0, 1];

/** What the columns of a row may hold that are numbers or times. References to rows of other tables are not among them. */
export const VALUES: Record<string, Record<string, Range>> = {
  job: {
    ...Object.fromEntries(
      OWN.flatMap(({ name, range }) => (range === undefined ? [] : [[name, [range.min, range.max]]])),
    ),
    ...{ attempts: COUNT, crashes: COUNT, runs: COUNT, token: COUNT, attempt: NUMBER },
    ...{ created_at: TIME, updated_at: TIME, due_at: TIME, started_at: TIME },
    ...{ finished_at: TIME, exit_code: CODE, duration_ms: TIME, bytes: COUNT, blockers: COUNT },
    unique_until: TIME,
  },
  attempt: {
    ...{ ordinal: COUNT, token: COUNT, started_at: TIME, wait_ms: TIME, finished_at: TIME, exit_code: CODE },
    ...{ output_bytes: COUNT, truncated: FLAG, duration_ms: TIME },
  },
  queue: {
    ...{ paused_at: TIME, concurrency: NUMBER, rate: NUMBER, rate_ms: SPAN, tokens_at: TIME, aging_ms: SPAN },
    tokens: [-LARGEST_NUMBER, LARGEST_NUMBER],
  },
  schedule: {
    ...{ every_ms: SPAN, anchor_at: TIME, created_at: TIME, paused_at: TIME, next_at: TIME, last_at: TIME },
    waiting: COUNT,
  },
  tick: { at: TIME, manual: FLAG },
  event: { at: TIME, jobs: NUMBER, first_job: NUMBER, queue: NUMBER, attempt: COUNT },
  dependency: { ordinal: COUNT },
  idempotency: { used_at: TIME },
};

/** Tables whose rows have a number of their own, and the column that a person knows a row by. */
export const NAMES: Record<string, string> = {
  ...{
    job: 'id',
    attempt: 'number',
    queue: 'name',
    schedule: 'name',
    event: 'number',
    rollup_kind: 'number',
  },
};

/** Finds the first column of a row that holds a number or a time out of its range. */
export function outOfRange(table: string, row: Record<string, unknown>): string | undefined {
  return Object.entries(VALUES[table] ?? {}).find(
    ([column, range]) => row[column] != null && !isWithin(row[column], range),
  )?.[0];
}

/** Returns the row with all numbers and times in range, and the columns that were changed for it. */
export function intoRange<T extends Record<string, unknown>>(
  table: string,
  row: T,
): { row: T; changed: string[] } {
  const changed = Object.entries(VALUES[table] ?? {}).filter(
    ([column, range]) => typeof row[column] === 'number' && !isWithin(row[column], range),
  );
  const values = changed.map(([column, [min, max]]) => [
    column,
    Math.min(Math.max(row[column] as number, min), max),
  ]);
  return { row: { ...row, ...Object.fromEntries(values) }, changed: changed.map(([column]) => column) };
}

function isWithin(value: unknown, [min, max]: Range): boolean {
  return typeof value === 'number' && value >= min && value <= max;
}

export function isOutside(column: string, [min, max]: Range): string {
  return `(${column} < ${min} OR ${column} > ${max})`;
}

/** The rows of a table that hold a number or a time out of range, with the names of the columns. */
export function outsideRows(table: string): string {
  const ranges = Object.entries({ ...(NAMES[table] ? { number: COUNT } : {}), ...VALUES[table] });
  const columns = ranges.map(([column, range]) => `iif(${isOutside(column, range)}, '${column}', NULL)`);
  const name = NAMES[table] ?? Object.keys(VALUES[table]!)[0]!;
  return `SELECT '${table} ' || ${name} || ': ' || concat_ws(', ', ${columns.join(', ')}) AS row FROM ${table}
    WHERE ${ranges.map(([column, range]) => isOutside(column, range)).join(' OR ')}`;
}
