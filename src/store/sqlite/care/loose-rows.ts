import type { Row } from '../../row.ts';
import type { SavedTable } from '../../tables.ts';
import type { Connection } from '../connection.ts';
import { originalColumnCounts } from '../migrate.ts';
import * as care from '../sql/care.ts';
import {
  cellAt,
  cellOffsets,
  childPagesOf,
  freePages,
  holdsRows,
  openPages,
  PAGE_BYTES,
  type PageFile,
  readWholeRow,
  type Value,
  valuesOf,
} from './pages.ts';

/** The columns of a table, by which its rows are recognized in the pages of a damaged file. */
export interface TableShape {
  table: string;
  /** The columns in the order in which they are stored. */
  columns: { name: string; type: string; required: boolean; fallback: Value }[];
  /** Rows that were written before a migration may have only this many columns. */
  minColumns: number;
  /** Tells whether rows have a rowid. */
  hasRowid: boolean;
  /** The column that shows the rowid, or null. */
  alias: string | null;
  /** The columns that tell two rows apart. */
  key: string[];
  /** Of two versions of a row, the newer one has the higher values in these columns. */
  ageColumns: string[];
}

/** The values of `ageColumns` by table. Other tables have none. */
const AGE_COLUMNS: Record<string, string[]> = {
  job: ['updated_at', 'token'],
  attempt: ['finished_at', 'token'],
  schedule: ['last_at'],
};

/** Reads the shape of a table from an undamaged store. */
export function shapeOf(db: Connection, { name, key }: SavedTable): TableShape {
  const columns = db.all(care.columnsOf, name);
  const hasRowid = db.get(care.isWithoutRowid, name) === undefined;
  const keyed = columns.filter((one) => one.pk !== 0).sort((a, b) => Number(a.pk) - Number(b.pk));
  const [first] = keyed;
  return {
    table: name,
    minColumns: originalColumnCounts().get(name) ?? columns.length,
    columns: (hasRowid ? columns : [...keyed, ...columns.filter((one) => one.pk === 0)]).map((one) => ({
      name: String(one.name),
      type: String(one.type),
      required: one.notnull === 1,
      fallback: parseDefault(one.dflt_value as string | null),
    })),
    hasRowid,
    alias: hasRowid && keyed.length === 1 && first!.type === 'INTEGER' ? String(first!.name) : null,
    key,
    ageColumns: AGE_COLUMNS[name] ?? [],
  };
}

/** Parses the default of a column, which is an integer or a text in this schema. */
function parseDefault(sql: string | null): Value {
  if (sql === null) return null;
  return /^-?\d+$/.test(sql) ? Number(sql) : sql.slice(1, -1);
}

export interface FoundRow {
  row: Row;
  /** True if the row is outside the tree of its table. It may then be an old version or a deleted row. */
  loose: boolean;
}

/** The position of a row in the file, and its values in `ageColumns`. */
interface FoundCell {
  page: number;
  at: number;
  ages: number[];
  loose: boolean;
}

/** Opens a file to find rows page by page. `roots` holds the number of the first page of each tree, by name. */
export function openRowFinder(path: string, roots: Map<string, number>) {
  const pages = openPages(path);
  const free = freePages(pages) ?? new Set();
  const owners = ownersOf(pages, roots, free);
  return {
    /** Returns one row for each key: the one in the tree of the table, or else the newest. Skips free pages and rows that do not `fit`. */
    rowsOf: (shape: TableShape, fit: (found: FoundRow) => boolean) =>
      newestRows(pages, free, owners, shape, fit),
    close: () => pages.close(),
  };
}

export type RowFinder = ReturnType<typeof openRowFinder>;

/** Returns the name of the tree to which each page belongs, as far as the trees can be walked. */
function ownersOf(pages: PageFile, roots: Map<string, number>, free: Set<number>): Map<number, string> {
  const owners = new Map<number, string>();
  for (const [name, root] of roots) {
    const rest = [root];
    for (let number = rest.pop(); number !== undefined; number = rest.pop()) {
      const page = owners.has(number) || free.has(number) ? null : pages.read(number);
      if (page === null) continue;
      owners.set(number, name);
      rest.push(...childPagesOf(page, number));
      for (const at of cellOffsets(page, number)) {
        const cell = cellAt(page, number, at);
        if (cell?.overflow == null) continue;
        for (const one of readWholeRow(pages, cell, () => true)?.overflowPages ?? []) owners.set(one, name);
      }
    }
  }
  return owners;
}

function* newestRows(
  pages: PageFile,
  free: Set<number>,
  owners: Map<number, string>,
  shape: TableShape,
  fit: (found: FoundRow) => boolean,
): Iterable<FoundRow> {
  const found = new Map<string, FoundCell>();
  const isUnowned = (one: number): boolean => !owners.has(one) && !free.has(one);
  for (let number = 1; number <= pages.count; number++) {
    const loose = owners.get(number) !== shape.table;
    const page = free.has(number) ? null : pages.read(number);
    if (page === null || !holdsRows(page, number, shape.hasRowid)) continue;
    for (const at of cellOffsets(page, number)) {
      const read = rowAt(pages, page, number, at, shape, loose ? isUnowned : () => true);
      if (read === null || !fit({ row: read.row, loose })) continue;
      const ages = shape.ageColumns.map((column) => Number(read.row[column] ?? 0));
      const one = { page: number, at, loose, ages };
      const key = JSON.stringify(shape.key.map((column) => read.row[column]));
      const other = found.get(key);
      if (other === undefined || compare(one, other) < 0) found.set(key, one);
    }
  }
  // An overflow page belongs to one row. A row that comes later and leads to the same page is out of date.
  const used = new Set<number>();
  for (const { page: number, at, loose } of [...found.values()].sort(compare)) {
    const page = pages.read(number)!;
    const read = rowAt(pages, page, number, at, shape, (one) => !used.has(one));
    if (read === null) continue;
    for (const one of read.overflowPages) used.add(one);
    yield { row: read.row, loose };
  }
}

/** Sorts the rows in the tree of the table first, then newer rows before older ones. */
function compare(one: FoundCell, other: FoundCell): number {
  if (one.loose !== other.loose) return one.loose ? 1 : -1;
  for (const [i, age] of one.ages.entries()) if (age !== other.ages[i]) return other.ages[i]! - age;
  return 0;
}

function rowAt(
  pages: PageFile,
  page: Buffer,
  number: number,
  at: number,
  shape: TableShape,
  isUsable: (page: number) => boolean,
): { row: Row; overflowPages: number[] } | null {
  const cell = cellAt(page, number, at);
  if (cell === null || cell.length > pages.count * PAGE_BYTES) return null;
  const whole = readWholeRow(pages, cell, isUsable);
  const values = whole === null ? null : valuesOf(whole.bytes);
  const row = values === null ? null : toRow(values, cell.rowid, shape);
  return row === null ? null : { row, overflowPages: whole!.overflowPages };
}

/** Returns the values by column name, or null if they do not fit the table. */
function toRow(values: Value[], rowid: number | null, shape: TableShape): Row | null {
  const { columns, alias, minColumns } = shape;
  if (values.length < minColumns || values.length > columns.length) return null;
  const row: Row = {};
  for (const [i, column] of columns.entries()) {
    const value = i < values.length ? values[i]! : column.fallback;
    if (column.name === alias) {
      if (value !== null || rowid === null || rowid < 1) return null;
      row[column.name] = rowid;
    } else if (value === null ? column.required : !hasType(column.type, value)) return null;
    else row[column.name] = value;
  }
  return row;
}

function hasType(type: string, value: Value): boolean {
  if (type === 'TEXT') return typeof value === 'string';
  if (type === 'BLOB') return value instanceof Uint8Array;
  return typeof value === 'number' && (type === 'REAL' || Number.isInteger(value));
}
