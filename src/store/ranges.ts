import { ownFields } from '../core/jobs/field-list.ts';
import { SHORTEST_INTERVAL_MS } from '../core/schedules/schedule.ts';
import { LATEST_DATE_MS } from '../core/time/time.ts';
import { SAVED_TABLES } from './tables.ts';

export type Range = readonly [min: number, max: number];

/** Attempt numbers have at most 15 digits in a cookie. JavaScript represents such numbers exactly. */
export const LARGEST_NUMBER = 999_999_999_999_999;
/** The highest number of an imported row. Enough higher numbers remain for all new rows. */
export const LARGEST_IMPORTED = 1_000_000_000_000;

export const NUMBERS: Range = [1, LARGEST_NUMBER];
export const COUNTS: Range = [0, LARGEST_NUMBER];
/** Times, and durations that may be 0. */
export const TIMES_MS: Range = [0, LATEST_DATE_MS];
export const INTERVALS_MS: Range = [1, LATEST_DATE_MS];
export const EXIT_CODES: Range = [-(2 ** 31), 2 ** 31 - 1];
export const FLAGS: Range = [0, 1];
export const PRIORITIES: Range = [-1_000_000, 1_000_000];

const ranged = (range: Range, ...columns: string[]): Record<string, Range> =>
  Object.fromEntries(columns.map((column) => [column, range]));

/** The ranges of the columns that hold numbers or times, by table. Most references to other rows are not listed. */
export const RANGES: Record<string, Record<string, Range>> = {
  job: {
    ...Object.fromEntries(
      ownFields().flatMap(({ name, range }) => (range === undefined ? [] : [[name, [range.min, range.max]]])),
    ),
    ...ranged(COUNTS, 'attempts', 'crashes', 'runs', 'token', 'bytes', 'blockers'),
    ...ranged(TIMES_MS, 'created_at', 'updated_at', 'due_at', 'started_at', 'finished_at', 'unique_until'),
    attempt: NUMBERS,
    exit_code: EXIT_CODES,
    duration_ms: TIMES_MS,
  },
  attempt: {
    ...ranged(COUNTS, 'ordinal', 'token', 'output_bytes'),
    ...ranged(TIMES_MS, 'started_at', 'wait_ms', 'finished_at', 'duration_ms'),
    exit_code: EXIT_CODES,
    truncated: FLAGS,
  },
  queue: {
    ...ranged(TIMES_MS, 'paused_at', 'tokens_at', 'next_due_at'),
    ...ranged(NUMBERS, 'concurrency', 'rate', 'ready_job'),
    ready_priority: PRIORITIES,
    ...ranged(INTERVALS_MS, 'rate_ms'),
    tokens: [-LARGEST_NUMBER, LARGEST_NUMBER],
  },
  schedule: {
    ...ranged(TIMES_MS, 'anchor_at', 'created_at', 'paused_at', 'next_at', 'last_at'),
    every_ms: [SHORTEST_INTERVAL_MS, LATEST_DATE_MS],
    waiting: COUNTS,
  },
  setting: { updated_at: TIMES_MS },
  tick: { at: TIMES_MS, manual: FLAGS },
  event: { at: TIMES_MS, ...ranged(NUMBERS, 'jobs', 'first_job', 'queue'), attempt: COUNTS },
  dependency: { ordinal: COUNTS },
  idempotency: { used_at: TIMES_MS },
};

/** The tables whose rows have their own number, each with the column that identifies a row in messages. */
export const NAME_COLUMNS: Record<string, string> = Object.fromEntries(
  SAVED_TABLES.flatMap((table) => (table.numbered ? [[table.name, table.nameColumns[0] ?? 'number']] : [])),
);

/** Returns the first column of a row whose value is not a number within its range. NULL is allowed. */
export function columnOutOfRange(table: string, row: Record<string, unknown>): string | undefined {
  return Object.entries(RANGES[table] ?? {}).find(
    ([column, range]) => row[column] != null && !isWithin(row[column], range),
  )?.[0];
}

/** Returns the row with all numbers and times put into their ranges, and the names of the changed columns. */
export function intoRange<T extends Record<string, unknown>>(table: string, row: T) {
  const fitting: Record<string, unknown> = { ...row };
  const changed: string[] = [];
  for (const [column, [min, max]] of Object.entries(RANGES[table] ?? {})) {
    const value = row[column];
    if (typeof value !== 'number' || isWithin(value, [min, max])) continue;
    fitting[column] = Math.min(Math.max(value, min), max);
    changed.push(column);
  }
  return { row: fitting as T, changed };
}

function isWithin(value: unknown, [min, max]: Range): boolean {
  return typeof value === 'number' && value >= min && value <= max;
}
