import { QueueError } from '../core/errors.ts';
import { bucketCount, isPacked } from '../core/rules/histogram.ts';
import { INTEGERS, isObject, jobShapes, SCHEDULED_JOB, type Shape, TEXTS } from './json-shapes.ts';
import type { Row } from './row.ts';

/** A table whose rows are exported, imported and repaired. */
export interface SavedTable {
  name: string;
  /** The primary key, which orders the rows. */
  key: string[];
  /** Tells whether rows have a number that the store assigns. An import assigns new numbers. */
  numbered: boolean;
  /** Maps each column that refers to a row of another table to that table. A row of a table without nameColumns belongs to the row its first reference points to. */
  refs: Record<string, string>;
  /** The columns by which an import recognizes an existing row. Empty if rows belong to a row of another table. */
  nameColumns: string[];
  /** The columns that hold JSON, each with the shape of its value. */
  json: Record<string, Shape>;
  /** The columns that hold packed counts. For each there are columns with the shortest and the longest counted time. */
  histogramColumns?: string[];
  /** The columns that not every store has. They are not exported, and are computed again after an import or a repair if they follow from other rows. */
  ownColumns: string[];
}

function tableOf(name: string, key: string, more: Partial<SavedTable> = {}): SavedTable {
  const defaults = { numbered: key === 'number', refs: {}, nameColumns: [], json: {}, ownColumns: [] };
  return { name, key: key.split(' '), ...defaults, ...more };
}

/** The tables that make up the queue, in an order in which their rows can be inserted. */
export const SAVED_TABLES: SavedTable[] = [
  tableOf('setting', 'key', { nameColumns: ['key'] }),
  tableOf('queue', 'number', {
    nameColumns: ['name'],
    ownColumns: ['ready_priority', 'ready_job', 'next_due_at'],
  }),
  tableOf('job', 'number', {
    refs: { queue: 'queue', attempt: 'attempt' },
    nameColumns: ['id'],
    json: jobShapes(),
    ownColumns: ['waited_for'],
  }),
  tableOf('attempt', 'number', {
    refs: { job: 'job' },
    json: { left_behind: INTEGERS },
    ownColumns: ['host', 'boot', 'shared_bytes', 'shared_end'],
  }),
  tableOf('output', 'attempt', { refs: { attempt: 'attempt' } }),
  tableOf('stdin', 'job', { refs: { job: 'job' } }),
  tableOf('dependency', 'child parent', { refs: { child: 'job', parent: 'job' } }),
  tableOf('idempotency', 'key', { nameColumns: ['key'], json: { ids: TEXTS } }),
  tableOf('schedule', 'number', { nameColumns: ['name'], json: { job: SCHEDULED_JOB } }),
  tableOf('tick', 'schedule at manual', { refs: { schedule: 'schedule', job: 'job' } }),
  tableOf('event', 'number', { refs: { queue: 'queue', first_job: 'job' }, json: { detail: isObject } }),
  // An import adds figures only to a store that has none. Otherwise the same jobs would count twice.
  tableOf('rollup_kind', 'number', { refs: { queue: 'queue' } }),
  tableOf('rollup', 'tier at kind', { refs: { kind: 'rollup_kind' }, histogramColumns: ['wait', 'run'] }),
];

export function savedTable(name: string): SavedTable {
  return SAVED_TABLES.find((table) => table.name === name)!;
}

/** Returns the first column that does not hold JSON of the expected shape, or a valid histogram. */
export function unreadableColumn(table: SavedTable, row: Record<string, unknown>): string | undefined {
  const json = Object.entries(table.json).find(
    ([column, shape]) => row[column] != null && !isJsonOf(shape, row[column]),
  );
  return (
    json?.[0] ?? table.histogramColumns?.find((column) => row[column] != null && !isHistogram(column, row))
  );
}

/** Checks the counts, and the shortest and longest time. A CHECK in the schema would slow down every settlement. */
function isHistogram(column: string, row: Record<string, unknown>): boolean {
  const [least, most] = [row[`${column}_least`], row[`${column}_most`]];
  return isPacked(row[column], bucketCount()) && typeof least === 'number' && least <= Number(most);
}

function isJsonOf(shape: Shape, text: unknown): boolean {
  try {
    return shape(JSON.parse(String(text)));
  } catch {
    return false;
  }
}

/** Throws if a job would not run as its user wanted, because a part of its row cannot be read. */
export function refuseUnreadable(row: Row): void {
  const column = unreadableColumn(savedTable('job'), row);
  if (column !== undefined)
    throw new QueueError(
      'store-corrupt',
      `the ${column} of job '${row.id}' is not valid JSON for this column`,
    );
}
