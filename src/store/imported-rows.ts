import { QueueError } from '../core/errors.ts';
import { columnOutOfRange, LARGEST_IMPORTED } from './ranges.ts';
import type { Row } from './row.ts';
import { type SavedTable, unreadableColumn } from './tables.ts';

/** Columns that may differ between equal rows: the number, the current tokens of a rate limit, and when a setting was changed. */
const VARYING_COLUMNS = new Set(['number', 'tokens', 'tokens_at', 'updated_at']);

/** Tells whether an existing row and an imported one are equal. */
export function isSame(a: Row, b: Row, ownColumns: readonly string[]): boolean {
  return Object.keys(a).every(
    (column) =>
      VARYING_COLUMNS.has(column) ||
      ownColumns.includes(column) ||
      (a[column] ?? null) === (b[column] ?? null),
  );
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
    throw invalidError(
      `its ${column} is not ${column in table.json ? 'valid JSON for this column' : 'a histogram'}${inRow(table, row)}`,
    );
  // Another version may have other kinds. A kind becomes a part of lines of text, such as those of an event stream.
  if (table.name === 'event' && !/^[a-z][a-z-]{0,39}$/.test(String(row.kind)))
    throw invalidError('its kind is not the kind of an event');
  const time = invalidTimeIn(table.name === 'event' ? row.detail : null);
  if (time !== undefined) throw invalidError(`its detail has an invalid time: ${time}`);
  const bad = columnOutOfRange(table.name, row);
  if (bad !== undefined) throw invalidError(`its ${bad} is out of range: ${String(row[bad]).slice(0, 40)}`);
}

/** Returns the name of the first value in the details of an event that should be a time but is not. */
function invalidTimeIn(detail: Row[string] | undefined): string | undefined {
  const values: [string, unknown][] = detail == null ? [] : Object.entries(JSON.parse(String(detail)));
  return values.find(
    ([name, value]) => /(^|_)at$/.test(name) && value !== null && Number.isNaN(Date.parse(String(value))),
  )?.[0];
}

/** Returns the number. Throws if it is not positive, or leaves too few higher numbers for new rows. */
export function checkNumber({ name }: SavedTable, number: number): number {
  if (number > 0 && number <= LARGEST_IMPORTED) return number;
  throw invalidError(`its number is out of range: ${number} leaves too few numbers for new ${name}s`);
}

export function invalidError(why: string): QueueError {
  return new QueueError('import-invalid', why);
}

function inRow(table: SavedTable, row: Row): string {
  return table.nameColumns.length === 0 ? '' : ` (${describeRow(table, row)})`;
}

export function describeRow(table: SavedTable, row: Row): string {
  return `${table.name} '${table.nameColumns.map((column) => row[column]).join(' ')}'`;
}
