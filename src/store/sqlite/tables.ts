import { BUCKETS } from '../../core/histogram.ts';
import { isPacked } from '../../core/packed-counts.ts';
import { JSON_COLUMNS } from './job-columns.ts';

/** What of the schema is the queue itself: this is exported, imported and repaired, in this order. */
export interface SavedTable {
  name: string;
  /** Its primary key: the order of its rows. */
  key: string[];
  /** Rows have a number of the store's own. A merge moves it out of the way. */
  numbered: boolean;
  /** Columns that hold the number of a row of another table; of one without a name, the first is what it belongs to. */
  refs: Record<string, string>;
  /** What makes two rows the same thing, for a merge; none: they belong to a row that has it. */
  name_of: string[];
  /** Columns that hold JSON, and of what kind. */
  json: Record<string, 'array' | 'object'>;
  /** Columns that hold packed counts. Beside each are the shortest and the longest of the times that were counted. */
  counts?: string[];
}

const NUMBER = { key: ['number'], numbered: true };

export const SAVED: SavedTable[] = [
  { name: 'setting', key: ['key'], numbered: false, refs: {}, name_of: ['key'], json: {} },
  { name: 'queue', ...NUMBER, refs: {}, name_of: ['name'], json: {} },
  {
    name: 'job',
    ...NUMBER,
    refs: { queue: 'queue', attempt: 'attempt' },
    name_of: ['id'],
    json: JSON_COLUMNS,
  },
  { name: 'attempt', ...NUMBER, refs: { job: 'job' }, name_of: [], json: { left_behind: 'array' } },
  { name: 'output', key: ['attempt'], numbered: false, refs: { attempt: 'attempt' }, name_of: [], json: {} },
  { name: 'stdin', key: ['job'], numbered: false, refs: { job: 'job' }, name_of: [], json: {} },
  {
    ...{ name: 'dependency', key: ['child', 'parent'], numbered: false },
    ...{ refs: { child: 'job', parent: 'job' }, name_of: [], json: {} },
  },
  { name: 'idempotency', key: ['key'], numbered: false, refs: {}, name_of: ['key'], json: { ids: 'array' } },
  { name: 'schedule', ...NUMBER, refs: {}, name_of: ['name'], json: { job: 'object' } },
  {
    ...{ name: 'tick', key: ['schedule', 'at', 'manual'], numbered: false },
    ...{ refs: { schedule: 'schedule', job: 'job' }, name_of: [], json: {} },
  },
  {
    name: 'event',
    ...NUMBER,
    refs: { queue: 'queue', first_job: 'job' },
    name_of: [],
    json: { detail: 'object' },
  },
  // A merge adds figures only where there are none: those of the same jobs would count twice.
  { name: 'rollup_kind', ...NUMBER, refs: { queue: 'queue' }, name_of: [], json: {} },
  {
    ...{ name: 'rollup', key: ['tier', 'at', 'kind'], numbered: false },
    ...{ refs: { kind: 'rollup_kind' }, name_of: [], json: {}, counts: ['wait', 'run'] },
  },
];

/** What is not, each with the reason. A test knows every table of the schema from these two lists. */
export const LEFT_OUT: Record<string, string> = {
  meta: 'every store has an epoch of its own',
  worker: 'workers belong to a machine, and live or die there',
  supervisor: 'like workers',
  counter: 'counted anew',
};

/** Returns the first column whose JSON is invalid or of another kind, or whose histogram is invalid. */
export function unreadable(table: SavedTable, row: Record<string, unknown>): string | undefined {
  const json = Object.entries(table.json).find(
    ([column, kind]) => row[column] != null && kindOf(row[column]) !== kind,
  );
  return json?.[0] ?? table.counts?.find((column) => row[column] != null && !isHistogram(column, row));
}

/** No CHECK does this, because every settlement would pay for it. */
function isHistogram(column: string, row: Record<string, unknown>): boolean {
  const [least, most] = [row[`${column}_least`], row[`${column}_most`]];
  return isPacked(row[column], BUCKETS) && typeof least === 'number' && least <= Number(most);
}

function kindOf(text: unknown): string {
  try {
    const value: unknown = JSON.parse(String(text));
    return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
  } catch {
    return 'nothing';
  }
}
