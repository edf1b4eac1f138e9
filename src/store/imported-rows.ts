import { QueueError } from '../core/errors.ts';
import { columnOutOfRange, LARGEST_IMPORTED } from './ranges.ts';
import type { Row } from './row.ts';
import { type SavedTable, unreadableColumn } from './tables.ts';

/** Columns that may differ between equal rows: the number, and the current tokens of a queue's rate limit. */
const VARYING_COLUMNS = new Set(['number', 'tokens', 'tokens_at']);

/** Tells whether an existing row and an imported one are equal. */
export function isSame(a: Row, b: Row, derivedColumns: readonly string[] = []): boolean {
  return Object.keys(a).every(
    (column) =>
      VARYING_COLUMNS.has(column) ||
      derivedColumns.includes(column) ||
      (a[column] ?? null) === (b[column] ?? null),
  );
}

/** Removes the times from figures that were exported before the first release, because their buckets were too wide for percentiles. */
export function withoutOldTimes(row: Row): Row {
  if (!('w0' in row)) return row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => !/^([wr]\d+|(wait|run)_ms)$/.test(name)));
}

/** Throws if the row has a column that is unknown, or a value that cannot be stored. */
export function checkColumns(table: SavedTable, row: Row, known: string[]): void {
  const unknown = Object.keys(row).find((column) => !known.includes(column));
  if (unknown !== undefined) throw invalidError(`unknown column '${unknown}' of a ${table.name}`);
  if (table.numbered && !Number.isSafeInteger(row.number))
    throw invalidError(`a ${table.name} has no number`);
  for (const [column, target] of Object.entries(table.refs))
    if (row[column] != null && !Number.isSafeInteger(row[column]))
      throw invalidError(`${column} does not refer to a ${target}`);
  const column = unreadableColumn(table, row);
  if (column !== undefined)
    throw invalidError(`its ${column} is not ${column in table.json ? 'valid JSON' : 'a histogram'}`);
  const bad = columnOutOfRange(table.name, row);
  if (bad !== undefined) throw invalidError(`its ${bad} is out of range: ${String(row[bad]).slice(0, 40)}`);
}

/** Returns the number. Throws if it is not positive, or leaves too few higher numbers for new rows. */
export function checkNumber({ name }: SavedTable, number: number): number {
  if (number > 0 && number <= LARGEST_IMPORTED) return number;
  throw invalidError(`its number is out of range: ${number} leaves too few numbers for new ${name}s`);
}

export function invalidError(why: string): QueueError {
  return new QueueError('import-invalid', why);
}

export function describeRow(table: SavedTable, row: Row): string {
  return `${table.name} '${table.nameColumns.map((column) => row[column]).join(' ')}'`;
}
