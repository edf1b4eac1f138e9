import type { SQLInputValue } from 'node:sqlite';
import { QueueError } from '../../core/errors.ts';
import type { ExportedFile, ExportedRow, Loaded, LoadOptions } from '../contract/care.ts';
import type { Connection, Row } from './connection.ts';
import { LARGEST_IMPORTED, outOfRange } from './ranges.ts';
import { recount } from './recount.ts';
import { toClaimedJob } from './rows.ts';
import { settle } from './settle.ts';
import * as sql from './sql/care.ts';
import { SAVED, type SavedTable, unreadable } from './tables.ts';

/** Loads all rows inside a transaction. */
export function load(
  db: Connection,
  rows: Iterable<ExportedRow | ExportedFile>,
  { onConflict, settleLost, keepFile }: LoadOptions,
): Loaded {
  const loader = createLoader(db, onConflict);
  for (const one of rows) {
    if ('table' in one) loader.add(one);
    else {
      const attempt = loader.attempt(one.attempt);
      if (attempt !== null) keepFile({ ...one, attempt });
    }
  }
  recount(db);
  // Nobody here can tell how a job ended that ran elsewhere.
  for (const row of db.all(sql.runningAbove, loader.shift.job!)) settle(db, settleLost(toClaimedJob(row)));
  return loader.loaded;
}

interface Loader {
  add(row: ExportedRow): void;
  /** Returns the new number of an attempt that was loaded under this one, or null if it was skipped. */
  attempt(number: number): number | null;
  shift: Record<string, number>;
  loaded: Loaded;
}

function createLoader(db: Connection, onConflict: LoadOptions['onConflict']): Loader {
  const loaded: Loaded = { added: {}, skipped: {} };
  // Every number is moved by the highest number in use here, so none meets another, and in an empty store all stay.
  const shift: Record<string, number> = {};
  for (const { name, numbered } of SAVED)
    if (numbered) shift[name] = Number(db.get(sql.highestNumber(name))!.number);
  /** The numbers of queues and schedules that exist here, by the numbers they had there. */
  const here = new Map<string, number>();
  /** The numbers of jobs that exist here. Loaded jobs may depend on them, but nothing is added to them. */
  const parents = new Map<number, number>();
  const hasFigures = db.get(sql.anyFigure) !== undefined;
  const columns = new Map(
    SAVED.map(({ name }) => [name, db.all(sql.columnsOf, name).map((row) => String(row.name))] as const),
  );
  const count = (kind: 'added' | 'skipped', table: string): void => {
    loaded[kind][table] = (loaded[kind][table] ?? 0) + 1;
  };
  const moved = (table: string, number: unknown): number =>
    here.get(`${table} ${number}`) ?? Number(number) + shift[table]!;
  const conflict = (table: SavedTable, row: Row): void => {
    if (onConflict === 'fail')
      throw new QueueError(
        'import-conflict',
        `${wordFor(table, row)} already exists, and differs or has a history`,
      );
    count('skipped', table.name);
  };

  const add = ({ table: name, row: given }: ExportedRow): void => {
    const table = SAVED.find((one) => one.name === name);
    if (table === undefined) throw invalid(`unknown table '${name}'`);
    const row = name === 'rollup' ? withoutOldTimes(given) : given;
    checkColumns(table, row, columns.get(name)!);
    const found = table.name_of.length === 0 ? undefined : existing(db, table, row);
    if (found !== undefined) {
      if (name === 'queue') here.set(`queue ${row.number}`, found.number as number);
      if (name === 'job') parents.set(row.number as number, found.number as number);
      if (!(isSame(found, row) && name !== 'job' && name !== 'schedule')) conflict(table, row);
      return;
    }
    const mine: Row = { ...row };
    if (table.numbered) mine.number = withRoom(table, moved(name, row.number));
    for (const [column, target] of Object.entries(table.refs))
      if (mine[column] != null)
        mine[column] =
          (column === 'parent' && parents.get(row.parent as number)) || moved(target, mine[column]);
    const names = columns.get(name)!.filter((column) => column in mine);
    const values = names.map((column) => mine[column] as SQLInputValue);
    // Figures are skipped with the kind that they belong to.
    if (isOrphan(db, table, mine) || (name === 'rollup_kind' && hasFigures)) count('skipped', name);
    else if (insert(db, sql.insertRow(name, names), values) === 0) conflict(table, row);
    else count('added', name);
  };
  return {
    add,
    shift,
    loaded,
    attempt(number) {
      const mine = moved('attempt', number);
      return db.get(sql.numberExists('attempt'), mine) === undefined ? null : mine;
    },
  };
}

/** Tells whether the row that this one belongs to was skipped. */
function isOrphan(db: Connection, table: SavedTable, row: Row): boolean {
  if (table.name_of.length > 0) return false;
  const [column, parent] = Object.entries(table.refs)[0]!;
  return row[column] != null && db.get(sql.numberExists(parent), row[column] as number) === undefined;
}

function existing(db: Connection, table: SavedTable, row: Row): Row | undefined {
  return db.get(
    sql.rowByName(table.name, table.name_of),
    ...table.name_of.map((column) => (row[column] ?? null) as SQLInputValue),
  );
}

/** Columns that may differ between equal rows: the number, and what is left of a queue's rate at this moment. */
const PASSING = new Set(['number', 'tokens', 'tokens_at']);

function isSame(a: Row, b: Row): boolean {
  return Object.keys(a).every((column) => PASSING.has(column) || (a[column] ?? null) === (b[column] ?? null));
}

/**
 * Returns figures without the times of exports from before the first release. Those had other buckets, too wide for percentiles.
 */
function withoutOldTimes(row: Row): Row {
  if (!('w0' in row)) return row;
  return Object.fromEntries(
    Object.entries(row).filter(([column]) => !/^([wr]\d+|(wait|run)_ms)$/.test(column)),
  );
}

function checkColumns(table: SavedTable, row: Row, known: string[]): void {
  const unknown = Object.keys(row).find((column) => !known.includes(column));
  if (unknown !== undefined) throw invalid(`unknown column '${unknown}' of a ${table.name}`);
  if (table.numbered && !Number.isSafeInteger(row.number)) throw invalid(`a ${table.name} has no number`);
  for (const [column, target] of Object.entries(table.refs))
    if (row[column] != null && !Number.isSafeInteger(row[column]))
      throw invalid(`${column} does not refer to a ${target}`);
  const column = unreadable(table, row);
  if (column !== undefined)
    throw invalid(`its ${column} is not ${column in table.json ? 'valid JSON' : 'a histogram'}`);
  const odd = outOfRange(table.name, row);
  if (odd !== undefined) throw invalid(`its ${odd} is out of range: ${String(row[odd]).slice(0, 40)}`);
}

/** Throws if the number leaves too few higher numbers for the next rows. */
function withRoom({ name }: SavedTable, number: number): number {
  if (number > 0 && number <= LARGEST_IMPORTED) return number;
  throw invalid(`its number is out of range: ${number} leaves too few numbers for new ${name}s`);
}

function insert(db: Connection, statement: string, values: SQLInputValue[]): number {
  try {
    return db.run(statement, ...values);
  } catch (error) {
    // An error of a CHECK or of a type is an error of the row; all others are passed on.
    if (((error as { errcode?: number }).errcode ?? 0) % 256 === CONSTRAINT)
      throw invalid((error as Error).message);
    throw error;
  }
}

const CONSTRAINT = 19;

function invalid(why: string): QueueError {
  return new QueueError('import-invalid', why);
}

function wordFor(table: SavedTable, row: Row): string {
  return `${table.name} '${table.name_of.map((column) => row[column]).join(' ')}'`;
}
