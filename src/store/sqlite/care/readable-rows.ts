import type { DatabaseSync } from 'node:sqlite';
import { orNull } from '../../../core/text/language.ts';
import type { Row } from '../../row.ts';
import type { SavedTable } from '../../tables.ts';
import { withoutBigInts } from '../connection.ts';
import { rowsAfter, rowsInOrder } from '../sql/care.ts';

/** Calls `keep` with every row of a table that SQLite can read, and `addGap` with a description of each place where rows may be missing. */
export function readRows(
  db: DatabaseSync,
  { name, key }: SavedTable,
  keep: (row: Row) => void,
  addGap: (gap: string) => void,
): void {
  if (key.length === 1 && key[0] !== 'key') readByNumber(db, name, key[0]!, keep, addGap);
  else readFromBothEnds(db, name, key, keep, addGap);
}

function* rowsOf(db: DatabaseSync, query: string, ...values: number[]): Iterable<Row> {
  const statement = db.prepare(query);
  statement.setReadBigInts(true);
  for (const row of statement.iterate(...values)) yield withoutBigInts(row as Row);
}

/** Reads rows in the order of their numbers. After an unreadable page it continues with the next row that it can read. */
function readByNumber(
  db: DatabaseSync,
  table: string,
  key: string,
  keep: (row: Row) => void,
  addGap: (gap: string) => void,
): void {
  const query = rowsAfter(table, key);
  const isReadable = (number: number): boolean =>
    orNull(() => [...rowsOf(db, `${query} LIMIT 1`, number)]) !== null;
  for (let at: number | null = 0; at !== null; ) {
    let last: number = at;
    try {
      for (const row of rowsOf(db, query, at)) {
        // A damaged tree may form a loop.
        if (!(Number(row[key]) > last)) {
          addGap(`${table} after ${key} ${last}: out of order`);
          return;
        }
        last = Number(row[key]);
        keep(row);
      }
      return;
    } catch (error) {
      at = nextReadable(last, isReadable);
      addGap(
        `${table} after ${key} ${last}${at === null ? '' : ` up to ${at}`}: ${(error as Error).message}`,
      );
    }
  }
}

/** The search for the next readable row number ends at this distance. */
const LONGEST_GAP = 2 ** 48;

/** Finds the next number after which rows can be read: by doubling steps, then by bisection. */
function nextReadable(at: number, isReadable: (number: number) => boolean): number | null {
  let step = 1;
  while (!isReadable(at + step)) {
    step *= 2;
    if (step > LONGEST_GAP) return null;
  }
  let low = Math.floor(step / 2);
  let high = step;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isReadable(at + middle)) high = middle;
    else low = middle;
  }
  return at + high;
}

/** A read of a table without row numbers ends after this many rows, because a damaged tree may form a loop. */
const MOST_UNNUMBERED = 1_000_000;

/** Reads rows in the order of their key. After an error, reads them again in reverse order. */
function readFromBothEnds(
  db: DatabaseSync,
  table: string,
  key: string[],
  keep: (row: Row) => void,
  addGap: (gap: string) => void,
): void {
  for (const direction of ['ASC', 'DESC'] as const) {
    try {
      let read = 0;
      for (const row of rowsOf(db, rowsInOrder(table, key, direction))) {
        keep(row);
        if (++read > MOST_UNNUMBERED) throw new Error('its rows form a loop');
      }
      return;
    } catch (error) {
      addGap(`${table}: ${(error as Error).message}`);
    }
  }
}
