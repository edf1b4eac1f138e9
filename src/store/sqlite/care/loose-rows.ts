import type { Connection, Row } from '../connection.ts';
import { firstColumns } from '../migrate.ts';
import * as care from '../sql/care.ts';
import type { SavedTable } from '../tables.ts';
import {
  cellAt,
  cellsOf,
  childrenOf,
  freePages,
  holdsRows,
  openPages,
  PAGE,
  type PageFile,
  type Value,
  valuesOf,
  wholeOf,
} from './pages.ts';

/** Describes what the rows of a table look like. */
export interface Shape {
  table: string;
  /** The columns in the order in which they are stored. */
  columns: { name: string; type: string; required: boolean; fallback: Value }[];
  /** The smallest number of columns. Rows that are older than a migration have no more. */
  least: number;
  /** Tells whether rows have a number, and which column shows it, if one does. */
  numbered: boolean;
  alias: string | null;
  /** The columns that tell two rows apart. */
  key: string[];
  /** Of two versions of a row, the newer one has the higher values in these columns. */
  age: string[];
}

/** In the other tables all versions of a row are equal, except for values that are computed again. */
const AGE: Record<string, string[]> = {
  job: ['updated_at', 'token'],
  attempt: ['finished_at', 'token'],
  schedule: ['last_at'],
};

/** Reads the shape of a table from a sound store. */
export function shapeOf(db: Connection, { name, key }: SavedTable): Shape {
  const columns = db.all(care.columnsOf, name);
  const numbered = db.get(care.isWithoutNumbers, name) === undefined;
  const keyed = columns.filter((one) => one.pk !== 0).sort((a, b) => Number(a.pk) - Number(b.pk));
  const [first] = keyed;
  return {
    table: name,
    least: firstColumns().get(name) ?? columns.length,
    columns: (numbered ? columns : [...keyed, ...columns.filter((one) => one.pk === 0)]).map((one) => ({
      name: String(one.name),
      type: String(one.type),
      required: one.notnull === 1,
      fallback: constant(one.dflt_value as string | null),
    })),
    numbered,
    alias: numbered && keyed.length === 1 && first!.type === 'INTEGER' ? String(first!.name) : null,
    key,
    age: AGE[name] ?? [],
  };
}

/** Returns the default of a column, which in our schema is an integer or a text. */
function constant(sql: string | null): Value {
  if (sql === null) return null;
  return /^-?\d+$/.test(sql) ? Number(sql) : sql.slice(1, -1);
}

export interface LooseRow {
  row: Row;
  /** Tells that no tree leads to its page. It may be an old version of the row, or a deleted one. */
  loose: boolean;
}

interface Found {
  page: number;
  at: number;
  age: number[];
  loose: boolean;
}

/** Opens a file to find rows page by page. `roots` has the first page of each tree, by name. */
export function looseRows(path: string, roots: Map<string, number>) {
  const pages = openPages(path);
  const free = freePages(pages) ?? new Set();
  const owners = ownersOf(pages, roots, free);
  return {
    /** Returns the rows of this shape that `fit`, on pages not known to be free: the newest of each key, newest first. */
    of: (shape: Shape, fit: (found: LooseRow) => boolean) => newest(pages, free, owners, shape, fit),
    close: () => pages.close(),
  };
}

export type LooseRows = ReturnType<typeof looseRows>;

/** Returns the name of the tree to which each page belongs, as far as the trees can be walked. */
function ownersOf(pages: PageFile, roots: Map<string, number>, free: Set<number>): Map<number, string> {
  const owners = new Map<number, string>();
  for (const [name, root] of roots) {
    const rest = [root];
    for (let number = rest.pop(); number !== undefined; number = rest.pop()) {
      const page = owners.has(number) || free.has(number) ? null : pages.read(number);
      if (page === null) continue;
      owners.set(number, name);
      rest.push(...childrenOf(page, number));
      for (const at of cellsOf(page, number)) {
        const cell = cellAt(page, number, at);
        if (cell?.overflow == null) continue;
        for (const one of wholeOf(pages, cell, () => true)?.pages ?? []) owners.set(one, name);
      }
    }
  }
  return owners;
}

function* newest(
  pages: PageFile,
  free: Set<number>,
  owners: Map<number, string>,
  shape: Shape,
  fit: (found: LooseRow) => boolean,
): Iterable<LooseRow> {
  const found = new Map<string, Found>();
  const nobodys = (one: number): boolean => !owners.has(one) && !free.has(one);
  for (let number = 1; number <= pages.count; number++) {
    const loose = owners.get(number) !== shape.table;
    const page = free.has(number) ? null : pages.read(number);
    if (page === null || !holdsRows(page, number, shape.numbered)) continue;
    for (const at of cellsOf(page, number)) {
      const read = rowAt(pages, page, number, at, shape, loose ? nobodys : () => true);
      if (read === null || !fit({ row: read.row, loose })) continue;
      const one = { page: number, at, loose, age: shape.age.map((column) => Number(read.row[column] ?? 0)) };
      const key = JSON.stringify(shape.key.map((column) => read.row[column]));
      const other = found.get(key);
      if (other === undefined || compare(one, other) < 0) found.set(key, one);
    }
  }
  // A page belongs to one row. An older row that also leads to it has lost it.
  const used = new Set<number>();
  for (const { page: number, at, loose } of [...found.values()].sort(compare)) {
    const page = pages.read(number)!;
    const read = rowAt(pages, page, number, at, shape, (one) => !used.has(one));
    if (read === null) continue;
    for (const one of read.pages) used.add(one);
    yield { row: read.row, loose };
  }
}

/** Sorts rows to which a tree leads first, then newer ones. */
function compare(one: Found, other: Found): number {
  if (one.loose !== other.loose) return one.loose ? 1 : -1;
  for (const [i, age] of one.age.entries()) if (age !== other.age[i]) return other.age[i]! - age;
  return 0;
}

function rowAt(
  pages: PageFile,
  page: Buffer,
  number: number,
  at: number,
  shape: Shape,
  usable: (page: number) => boolean,
): { row: Row; pages: number[] } | null {
  const cell = cellAt(page, number, at);
  if (cell === null || cell.length > pages.count * PAGE) return null;
  const whole = wholeOf(pages, cell, usable);
  const values = whole === null ? null : valuesOf(whole.bytes);
  const row = values === null ? null : shaped(values, cell.rowid, shape);
  return row === null ? null : { row, pages: whole!.pages };
}

/** Returns the row by the names of its columns, or null if it belongs to another table. */
function shaped(values: Value[], rowid: number | null, { columns, alias, least }: Shape): Row | null {
  if (values.length < least || values.length > columns.length) return null;
  const row: Row = {};
  for (const [i, column] of columns.entries()) {
    const value = i < values.length ? values[i]! : column.fallback;
    if (column.name === alias) {
      if (value !== null || rowid === null || rowid < 1) return null;
      row[column.name] = rowid;
    } else if (value === null ? column.required : !isOf(column.type, value)) return null;
    else row[column.name] = value;
  }
  return row;
}

function isOf(type: string, value: Value): boolean {
  if (type === 'TEXT') return typeof value === 'string';
  if (type === 'BLOB') return value instanceof Uint8Array;
  return typeof value === 'number' && (type === 'REAL' || Number.isInteger(value));
}
