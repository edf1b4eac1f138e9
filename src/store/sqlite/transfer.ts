import type { SQLInputValue } from 'node:sqlite';
import { QueueError } from '../../core/errors.ts';
import type { ClaimedJob } from '../../core/job.ts';
import type { Settlement, Store } from '../store.ts';
import type { ExportedRow, Loaded, Loading, LoadOptions } from '../transfer.ts';
import * as care from './care-sql.ts';
import { settle } from './claims.ts';
import type { Connection, Row } from './connection.ts';
import { LARGEST_IMPORTED, outOfRange } from './ranges.ts';
import { recount } from './recount.ts';
import { toClaimedJob } from './rows.ts';
import { SAVED, type SavedTable, unreadable } from './tables.ts';

type TransferVerbs = Pick<Store, 'dump' | 'load'>;

export function transferVerbs(db: Connection): TransferVerbs {
  return {
    dump: (keep) =>
      db.read(() => {
        for (const { name, key } of SAVED) {
          for (const row of db.each(care.rowsInOrder(name, key, 'ASC')))
            keep({ table: name, row: { ...row } });
        }
      }),
    load: (rows, options, lose) => db.write('load', () => load(db, rows, options, lose)),
  };
}

function load(
  db: Connection,
  rows: (loading: Loading) => Iterable<ExportedRow>,
  options: LoadOptions,
  lose: (job: ClaimedJob) => Settlement,
): Loaded {
  const loader = createLoader(db, options);
  for (const one of rows(loader)) loader.add(one);
  recount(db);
  // What ran elsewhere, nobody here knows the end of.
  for (const row of db.all(care.runningAbove, loader.shift.job!)) settle(db, lose(toClaimedJob(row)));
  return loader.loaded;
}

interface Loader extends Loading {
  add(row: ExportedRow): void;
  shift: Record<string, number>;
  loaded: Loaded;
}

function createLoader(db: Connection, { onConflict }: LoadOptions): Loader {
  const loaded: Loaded = { added: {}, skipped: {} };
  // Every number is moved by as much as this store has used: none meets another, and in an empty store all stay as they are.
  const shift: Record<string, number> = {};
  for (const { name, numbered } of SAVED)
    if (numbered) shift[name] = Number(db.get(care.highestNumber(name))!.number);
  /** Queues and schedules that are here already, by the number they had there. */
  const here = new Map<string, number>();
  /** Jobs too, but only to be waited for: nothing of theirs is added to them. */
  const parents = new Map<number, number>();
  const hasFigures = db.get(care.anyFigure) !== undefined;
  const columns = new Map(
    SAVED.map(({ name }) => [name, db.all(care.columnsOf, name).map((row) => String(row.name))] as const),
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

  const add = ({ table: name, row }: ExportedRow): void => {
    const table = SAVED.find((one) => one.name === name);
    if (table === undefined) throw invalid(`unknown table '${name}'`);
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
    // Without their kind the figures belong to nothing, and are skipped with it.
    if (isOrphan(db, table, mine) || (name === 'rollup_kind' && hasFigures)) count('skipped', name);
    else if (insert(db, care.insertRow(name, names), values) === 0) conflict(table, row);
    else count('added', name);
  };
  return {
    ...{ add, shift, loaded },
    attempt(number) {
      const mine = moved('attempt', number);
      return db.get(care.numberExists('attempt'), mine) === undefined ? null : mine;
    },
  };
}

/** What belongs to a row that was skipped is skipped with it. */
function isOrphan(db: Connection, table: SavedTable, row: Row): boolean {
  if (table.name_of.length > 0) return false;
  const [column, parent] = Object.entries(table.refs)[0]!;
  return row[column] != null && db.get(care.numberExists(parent), row[column] as number) === undefined;
}

function existing(db: Connection, table: SavedTable, row: Row): Row | undefined {
  return db.get(
    care.rowByName(table.name, table.name_of),
    ...table.name_of.map((column) => (row[column] ?? null) as SQLInputValue),
  );
}

/** But for its number, and for what a queue has left of its rate at this moment. */
const PASSING = new Set(['number', 'tokens', 'tokens_at']);

function isSame(a: Row, b: Row): boolean {
  return Object.keys(a).every((column) => PASSING.has(column) || (a[column] ?? null) === (b[column] ?? null));
}

function checkColumns(table: SavedTable, row: Row, known: string[]): void {
  const unknown = Object.keys(row).find((column) => !known.includes(column));
  if (unknown !== undefined) throw invalid(`unknown column '${unknown}' of a ${table.name}`);
  if (table.numbered && !Number.isSafeInteger(row.number)) throw invalid(`a ${table.name} has no number`);
  for (const [column, target] of Object.entries(table.refs))
    if (row[column] != null && !Number.isSafeInteger(row[column]))
      throw invalid(`${column} does not refer to a ${target}`);
  const column = unreadable(table, row);
  if (column !== undefined) throw invalid(`its ${column} is not valid JSON`);
  const odd = outOfRange(table.name, row);
  if (odd !== undefined) throw invalid(`its ${odd} is out of range: ${String(row[odd]).slice(0, 40)}`);
}

/** The next rows get higher numbers than all that are here. */
function withRoom({ name }: SavedTable, number: number): number {
  if (number > 0 && number <= LARGEST_IMPORTED) return number;
  throw invalid(`its number is out of range: ${number} leaves too few numbers for new ${name}s`);
}

function insert(db: Connection, statement: string, values: SQLInputValue[]): number {
  try {
    return db.run(statement, ...values);
  } catch (error) {
    // Every CHECK and type of the schema has its say; what is no matter of the row is somebody else's error.
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
