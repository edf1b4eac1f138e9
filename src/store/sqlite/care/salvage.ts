import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { orNull } from '../../../core/or-null.ts';
import { type Row, withoutBigInts } from '../connection.ts';
import { isOutOfRange } from '../failures.ts';
import { freshDatabase } from '../migrate.ts';
import { hasJobs, roots, rowsAfter, rowsInOrder } from '../sql/care.ts';
import type { HeldStore } from './hold.ts';
import { type LooseRow, type LooseRows, looseRows, type Shape } from './loose-rows.ts';
import { BESIDE } from './owner.ts';
import { childrenOf, PAGE } from './pages.ts';

const HEADER = 100;
/** The search for the next readable row ends at this distance. */
const FARTHEST = 2 ** 48;

/** Takes every row that can be read, and descriptions of the places where rows may be missing. */
export interface RowSink {
  keep(row: Row): void;
  gap(why: string): void;
}

/** A copy of a damaged database, opened as well as possible. */
export interface Wreck {
  rows(table: string, key: string[], sink: RowSink): void;
  /** Finds rows page by page, whether or not a tree leads to them. Those to which a tree leads come first. */
  loose(shape: Shape, fit: (found: LooseRow) => boolean): Iterable<LooseRow>;
  /** Tells that no tree of jobs or queues could be read. */
  blind: boolean;
  /** Returns the first column of a query, or nothing if it fails. */
  column(query: string): string[];
  /** Describes how it had to be opened. */
  how: string;
  close(): void;
}

/**
 * Opens a copy of the damaged database: as it is, with a new header, or with the schema of a fresh store, whose tables begin at
 * the same pages. If none of these shows a job or a queue, rows are searched page by page. Returns null if nothing works.
 */
export function openWreck(damaged: HeldStore, copy: string): Wreck | null {
  const ways: [how: string, mend: (file: string) => void, guessed?: true][] = [
    ['as it is', () => {}],
    ['with a new header', (file) => patch(file, freshPages(copy, false), HEADER)],
    ['with a new schema', (file) => patch(file, freshPages(copy, false), PAGE), true],
    ['with the new schema of a copy', (file) => patch(file, freshPages(copy, true), PAGE), true],
  ];
  for (const blind of [false, true]) {
    for (const [how, mend, guessed] of ways) {
      for (const end of ['', ...BESIDE]) rmSync(copy + end, { force: true });
      damaged.copyTo(copy);
      mend(copy);
      const db = tryOpen(copy, blind);
      if (db === null) continue;
      if (blind) return { ...wreck(db, copy, guessed), how: `${how}, page by page`, blind };
      return { ...wreck(db, copy), how, blind };
    }
  }
  return null;
}

function tryOpen(path: string, blind: boolean): DatabaseSync | null {
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(path);
    // With the wrong schema neither a job nor a queue looks like one. The first job may be damaged, so queues count too.
    if (blind ? !db.prepare(hasJobs).get() : !looksLike(db, 'job', 'id') && !looksLike(db, 'queue', 'name'))
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

/** Returns the pages of a fresh store that hold its schema, by number. `copied` lays them out as in a backup, by VACUUM. */
function freshPages(copy: string, copied: boolean): Map<number, Buffer> {
  const files = [`${copy}.fresh`, `${copy}.copied`];
  for (const file of files) rmSync(file, { force: true });
  const db = freshDatabase(files[0]!);
  db.prepare('VACUUM INTO ?').run(files[1]!);
  db.close();
  const bytes = readFileSync(files[copied ? 1 : 0]!);
  for (const file of files) rmSync(file, { force: true });
  const page = (number: number): Buffer => bytes.subarray((number - 1) * PAGE, number * PAGE);
  return new Map([1, ...childrenOf(page(1), 1)].map((number) => [number, page(number)]));
}

/** Overwrites the header, or all pages of the schema. Keeps the size of the file and drops the free list. */
function patch(path: string, pages: Map<number, Buffer>, bytes: number): void {
  const start = Buffer.from(pages.get(1)!.subarray(0, bytes));
  start.writeUInt32BE(Math.max(pages.size, Math.floor(statSync(path).size / PAGE)), 28);
  start.writeUInt32BE(0, 32);
  start.writeUInt32BE(0, 36);
  start.writeUInt32BE(start.readUInt32BE(24), 92);
  const file = openSync(path, 'r+');
  if (bytes === PAGE) for (const [number, page] of pages) writeSync(file, page, 0, PAGE, (number - 1) * PAGE);
  writeSync(file, start, 0, bytes, 0);
  closeSync(file);
}

/** Reads an opened wreck. If it is `guessed` that its tables begin where the schema says, only single pages are read. */
function wreck(db: DatabaseSync, copy: string, guessed = false): Omit<Wreck, 'how' | 'blind'> {
  const all = (query: string): Row[] => orNull(() => db.prepare(query).all() as Row[]) ?? [];
  // Pages are read from the file itself, so the WAL is folded into it.
  all('PRAGMA wal_checkpoint(TRUNCATE)');
  let pages: LooseRows | null = null;
  return {
    loose(shape, fit) {
      const known = guessed ? [] : all(roots);
      pages ??= looseRows(copy, new Map(known.map((row) => [String(row.name), Number(row.rootpage)])));
      return pages.of(shape, fit);
    },
    rows(table, key, sink) {
      if (guessed) return;
      if (key.length === 1 && key[0] !== 'key') byNumber(db, table, key[0]!, sink);
      else fromBothEnds(db, table, key, sink);
    },
    column: (query) => (guessed ? [] : all(query).map((row) => String(Object.values(row)[0]))),
    close() {
      db.close();
      pages?.close();
    },
  };
}

const AT_ONCE = 200;
/** No table of this kind is longer, but a damaged tree may form a loop. */
const MOST_UNNUMBERED = 1_000_000;

/** Reads rows in the order of their numbers. Behind an unreadable page it continues with the first row that it can read. */
function byNumber(db: DatabaseSync, table: string, key: string, { keep, gap }: RowSink): void {
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
  const readable = (number: number): boolean => orNull(() => after(number, 1)) !== null;
  for (let at = 0; ; ) {
    let rows: Row[] = [];
    for (const limit of [AT_ONCE, 1]) {
      try {
        rows = after(at, limit);
        if (rows.length === 0) return;
        break;
      } catch (error) {
        if (limit > 1) continue;
        const next = nextReadable(at, readable);
        const end = next === null ? '' : ` up to ${next}`;
        gap(`${table} after ${key} ${at}${end}: ${(error as Error).message}`);
        if (next === null) return;
        at = next;
      }
    }
    for (const row of rows) keep(row);
    // A damaged tree may form a loop.
    const last = Number(rows.at(-1)?.[key] ?? at);
    if (rows.length > 0 && !(last > at)) {
      gap(`${table} after ${key} ${at}: out of order`);
      return;
    }
    at = last;
  }
}

/** Finds the next number from which rows can be read: by doubling steps, then by bisection. */
function nextReadable(at: number, readable: (number: number) => boolean): number | null {
  let step = 1;
  while (!readable(at + step)) {
    step *= 2;
    if (step > FARTHEST) return null;
  }
  let low = Math.floor(step / 2);
  let high = step;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (readable(at + middle)) high = middle;
    else low = middle;
  }
  return at + high;
}

/** Reads rows from the first one on, and after an error from the last one back. */
function fromBothEnds(db: DatabaseSync, table: string, key: string[], { keep, gap }: RowSink): void {
  for (const direction of ['ASC', 'DESC'] as const) {
    try {
      let read = 0;
      for (const row of db.prepare(rowsInOrder(table, key, direction)).iterate()) {
        keep(row as Row);
        if (++read > MOST_UNNUMBERED) throw new Error('its rows form a loop');
      }
      return;
    } catch (error) {
      gap(`${table}: ${(error as Error).message}`);
    }
  }
}
