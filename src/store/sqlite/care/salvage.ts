import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { orNull } from '../../../core/or-null.ts';
import type { Row } from '../../row.ts';
import { withoutBigInts } from '../connection.ts';
import { isOutOfRange } from '../failures.ts';
import { freshDatabase } from '../migrate.ts';
import { hasJobTable, rootPages, rowsAfter, rowsInOrder } from '../sql/care.ts';
import type { HeldStore } from './hold.ts';
import { type FoundRow, openRowFinder, type RowFinder, type TableShape } from './loose-rows.ts';
import { PART_SUFFIXES } from './owner.ts';
import { childPagesOf, PAGE_BYTES } from './pages.ts';

const HEADER_BYTES = 100;
/** The search for the next readable row number ends at this distance. */
const LONGEST_GAP = 2 ** 48;

/** Takes every row that can be read, and descriptions of the places where rows may be missing. */
export interface RowSink {
  keep(row: Row): void;
  addGap(why: string): void;
}

/** A copy of a damaged database, opened as well as possible. */
export interface DamagedCopy {
  rows(table: string, key: string[], sink: RowSink): void;
  /** Finds rows page by page, also those outside the tree of their table. The rows in the tree come first. */
  rowsByPage(shape: TableShape, fit: (found: FoundRow) => boolean): Iterable<FoundRow>;
  /** Tells whether neither the tree of jobs nor that of queues could be read. */
  lacksTrees: boolean;
  /** Returns the first column of a query, or no values if it fails. */
  column(query: string): string[];
  /** Describes how the copy had to be opened. */
  how: string;
  close(): void;
}

/**
 * Opens a copy of the damaged database: as it is, with a new header, or with the schema of a fresh store, whose tables begin at
 * the same pages. If none of these shows a job or a queue, rows are searched page by page. Returns null if nothing works.
 */
export function openDamagedCopy(damaged: HeldStore, copy: string): DamagedCopy | null {
  const ways: [how: string, mend: (file: string) => void, guessed?: true][] = [
    ['as it is', () => {}],
    ['with a new header', (file) => overwrite(file, freshPages(copy, false), HEADER_BYTES)],
    ['with a new schema', (file) => overwrite(file, freshPages(copy, false), PAGE_BYTES), true],
    ['with the new schema of a copy', (file) => overwrite(file, freshPages(copy, true), PAGE_BYTES), true],
  ];
  for (const lacksTrees of [false, true]) {
    for (const [how, mend, guessed] of ways) {
      for (const end of ['', ...PART_SUFFIXES]) rmSync(copy + end, { force: true });
      damaged.copyTo(copy);
      mend(copy);
      const db = tryOpen(copy, lacksTrees);
      if (db === null) continue;
      if (lacksTrees) return { ...readersOf(db, copy, guessed), how: `${how}, page by page`, lacksTrees };
      return { ...readersOf(db, copy), how, lacksTrees };
    }
  }
  return null;
}

function tryOpen(path: string, lacksTrees: boolean): DatabaseSync | null {
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(path);
    // With a wrong schema, the first rows of both tables look wrong. One of them is enough, because the other may be damaged.
    if (
      lacksTrees
        ? !db.prepare(hasJobTable).get()
        : !looksLike(db, 'job', 'id') && !looksLike(db, 'queue', 'name')
    )
      throw new Error('no queue');
    return db;
  } catch {
    db?.close();
    return null;
  }
}

function looksLike(db: DatabaseSync, table: string, column: string): boolean {
  const row = orNull(() => db.prepare(rowsAfter(table, 'number', 1)).all(0)[0]);
  return typeof row?.[column] === 'string';
}

/** Returns the pages of a fresh store that hold its schema, by number. With `asBackup`, VACUUM has laid them out as in a backup. */
function freshPages(copy: string, asBackup: boolean): Map<number, Buffer> {
  const files = [`${copy}.fresh`, `${copy}.copied`];
  for (const file of files) rmSync(file, { force: true });
  const db = freshDatabase(files[0]!);
  db.prepare('VACUUM INTO ?').run(files[1]!);
  db.close();
  const bytes = readFileSync(files[asBackup ? 1 : 0]!);
  for (const file of files) rmSync(file, { force: true });
  const page = (number: number): Buffer => bytes.subarray((number - 1) * PAGE_BYTES, number * PAGE_BYTES);
  return new Map([1, ...childPagesOf(page(1), 1)].map((number) => [number, page(number)]));
}

/** Overwrites the header, or all pages of the schema if `bytes` is a whole page. Keeps the file's size and empties the list of free pages. */
function overwrite(path: string, pages: Map<number, Buffer>, bytes: number): void {
  const start = Buffer.from(pages.get(1)!.subarray(0, bytes));
  start.writeUInt32BE(Math.max(pages.size, Math.floor(statSync(path).size / PAGE_BYTES)), 28);
  start.writeUInt32BE(0, 32);
  start.writeUInt32BE(0, 36);
  start.writeUInt32BE(start.readUInt32BE(24), 92);
  const file = openSync(path, 'r+');
  if (bytes === PAGE_BYTES)
    for (const [number, page] of pages) writeSync(file, page, 0, PAGE_BYTES, (number - 1) * PAGE_BYTES);
  writeSync(file, start, 0, bytes, 0);
  closeSync(file);
}

/** Returns the functions of a DamagedCopy. If its schema is only `guessed`, rows are found only page by page. */
function readersOf(db: DatabaseSync, copy: string, guessed = false): Omit<DamagedCopy, 'how' | 'lacksTrees'> {
  const all = (query: string): Row[] => orNull(() => db.prepare(query).all() as Row[]) ?? [];
  // Pages are read from the file itself, so the WAL is copied into it first.
  all('PRAGMA wal_checkpoint(TRUNCATE)');
  let pages: RowFinder | null = null;
  return {
    rowsByPage(shape, fit) {
      const known = guessed ? [] : all(rootPages);
      pages ??= openRowFinder(copy, new Map(known.map((row) => [String(row.name), Number(row.rootpage)])));
      return pages.rowsOf(shape, fit);
    },
    rows(table, key, sink) {
      if (guessed) return;
      if (key.length === 1 && key[0] !== 'key') readByNumber(db, table, key[0]!, sink);
      else readFromBothEnds(db, table, key, sink);
    },
    column: (query) => (guessed ? [] : all(query).map((row) => String(Object.values(row)[0]))),
    close() {
      db.close();
      pages?.close();
    },
  };
}

const ROWS_PER_READ = 200;
/** A read of a table without row numbers ends after this many rows, because a damaged tree may form a loop. */
const MOST_UNNUMBERED = 1_000_000;

/** Reads rows in the order of their numbers. After an unreadable page it continues with the next row that it can read. */
function readByNumber(db: DatabaseSync, table: string, key: string, { keep, addGap }: RowSink): void {
  const after = (number: number, limit: number): Row[] => {
    const statement = db.prepare(rowsAfter(table, key, limit));
    try {
      return statement.all(number) as Row[];
    } catch (error) {
      if (!isOutOfRange(error)) throw error;
      statement.setReadBigInts(true);
      return (statement.all(number) as Row[]).map(withoutBigInts);
    }
  };
  const isReadable = (number: number): boolean => orNull(() => after(number, 1)) !== null;
  for (let at = 0; ; ) {
    let rows: Row[] = [];
    for (const limit of [ROWS_PER_READ, 1]) {
      try {
        rows = after(at, limit);
        if (rows.length === 0) return;
        break;
      } catch (error) {
        if (limit > 1) continue;
        const next = nextReadable(at, isReadable);
        const end = next === null ? '' : ` up to ${next}`;
        addGap(`${table} after ${key} ${at}${end}: ${(error as Error).message}`);
        if (next === null) return;
        at = next;
      }
    }
    for (const row of rows) keep(row);
    // A damaged tree may form a loop.
    const last = Number(rows.at(-1)?.[key] ?? at);
    if (rows.length > 0 && !(last > at)) {
      addGap(`${table} after ${key} ${at}: out of order`);
      return;
    }
    at = last;
  }
}

/** Finds the next number from which rows can be read: by doubling steps, then by bisection. */
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

/** Reads rows in the order of their key. After an error, reads them again in reverse order. */
function readFromBothEnds(db: DatabaseSync, table: string, key: string[], { keep, addGap }: RowSink): void {
  for (const direction of ['ASC', 'DESC'] as const) {
    try {
      let read = 0;
      for (const row of db.prepare(rowsInOrder(table, key, direction)).iterate()) {
        keep(row as Row);
        if (++read > MOST_UNNUMBERED) throw new Error('its rows form a loop');
      }
      return;
    } catch (error) {
      addGap(`${table}: ${(error as Error).message}`);
    }
  }
}
