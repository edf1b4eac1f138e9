import { QueueError } from '../../core/errors.ts';
import type { ExportedFilePart, ExportedRow, LoadCounts, LoadOptions } from '../contract/care.ts';
import { checkColumns, checkNumber, describeRow, invalidError, isSame } from '../imported-rows.ts';
import { type EndedParent, handleParentEnds } from '../parts/dependencies.ts';
import { settleAsLost } from '../parts/settle.ts';
import type { Row, SqlValue } from '../row.ts';
import { SAVED_TABLES, type SavedTable } from '../tables.ts';
import type { Connection } from './connection.ts';
import { runSteps, sqliteEngine } from './engine.ts';
import { isConstraintViolation } from './failures.ts';
import * as sql from './sql/care.ts';

/** Loads all rows inside a transaction. */
export function load(
  db: Connection,
  rows: Iterable<ExportedRow | ExportedFilePart>,
  { onConflict, settleLost, keepFile, mark }: LoadOptions,
): LoadCounts {
  const loader = createLoader(db, onConflict);
  for (const one of rows) {
    if ('table' in one) loader.add(one);
    else {
      const attempt = loader.newNumberOf('attempt', one.attempt);
      const isSkipped = db.get(sql.numberExists('attempt'), attempt) === undefined;
      if (!isSkipped) keepFile({ ...one, attempt });
    }
  }
  if (mark !== undefined) db.run(sql.setLoadMark, mark(loader.counts));
  db.run(sql.recountRuns, loader.offsets.job!);
  recomputeDerived(db);
  // It is unknown how the jobs that were running in the other store ended.
  const running = db.all(sql.runningAbove, loader.offsets.job!);
  runSteps(db, settleAsLost(sqliteEngine(db), running, settleLost));
  return loader.counts;
}

/** Recomputes derived values, such as counters and blocked phases, after an import or a repair has inserted rows. */
export function recomputeDerived(db: Connection): void {
  db.run(sql.recountBlockers);
  db.run(sql.fixBlockedPhases);
  db.run(sql.deleteCounters);
  db.run(sql.recountJobs);
  db.run(sql.recomputeBounds);
  const ended = db.all<Omit<EndedParent, 'at'>>(sql.endedParents);
  const parents = ended.map((parent) => ({ ...parent, at: db.now() }));
  runSteps(db, handleParentEnds(sqliteEngine(db), parents));
}

function createLoader(db: Connection, onConflict: LoadOptions['onConflict']) {
  const counts: LoadCounts = { added: {}, skipped: {} };
  // These are the highest numbers in use. They are added to the imported numbers, which therefore stay the same in an empty store.
  const offsets: Record<string, number> = {};
  const columns = new Map<string, string[]>();
  for (const { name, numbered } of SAVED_TABLES) {
    if (numbered) offsets[name] = Number(db.get(sql.highestNumber(name))!.number);
    const names = db.all(sql.columnsOf, name).map((row) => String(row.name));
    columns.set(name, names);
  }
  /** The numbers of queues that exist in this store, by the number of the imported row. */
  const existingQueues = new Map<unknown, number>();
  /** The numbers of jobs that exist in this store, by the number of the imported row. Loaded jobs may depend on them. */
  const existingJobs = new Map<number, number>();
  const hasFigures = db.get(sql.anyFigure) !== undefined;
  const increment = (kind: 'added' | 'skipped', table: string): void => {
    counts[kind][table] = (counts[kind][table] ?? 0) + 1;
  };
  /** Returns the number that an imported row has in this store. */
  const newNumberOf = (table: string, number: unknown): number =>
    (table === 'queue' ? existingQueues.get(number) : undefined) ?? Number(number) + offsets[table]!;
  const handleConflict = (table: SavedTable, row: Row): void => {
    if (onConflict === 'fail')
      throw new QueueError('import-conflict', `${describeRow(table, row)} already exists in this database`);
    increment('skipped', table.name);
  };

  const add = ({ table: name, row }: ExportedRow): void => {
    const table = SAVED_TABLES.find((one) => one.name === name);
    if (table === undefined) throw invalidError(`unknown table '${name}'`);
    checkColumns(table, row, columns.get(name)!);
    const existing = table.nameColumns.length === 0 ? undefined : findByName(db, table, row);
    if (existing !== undefined) {
      if (name === 'queue') existingQueues.set(row.number, existing.number as number);
      if (name === 'job') existingJobs.set(row.number as number, existing.number as number);
      if (!(isSame(existing, row, table.derivedColumns) && name !== 'job' && name !== 'schedule'))
        handleConflict(table, row);
      return;
    }
    const newRow: Row = { ...row };
    if (table.numbered) newRow.number = checkNumber(table, newNumberOf(name, row.number));
    for (const [column, target] of Object.entries(table.refs))
      if (newRow[column] != null)
        newRow[column] =
          (column === 'parent' && existingJobs.get(row.parent as number)) ||
          newNumberOf(target, newRow[column]);
    const names = columns.get(name)!.filter((column) => column in newRow);
    const values = names.map((column) => newRow[column] as SqlValue);
    // Figures are skipped with the kind that they belong to.
    if (isOrphan(db, table, newRow) || (name === 'rollup_kind' && hasFigures)) increment('skipped', name);
    else if (insert(db, sql.insertRow(name, names), values) === 0) handleConflict(table, row);
    else increment('added', name);
  };
  return { add, newNumberOf, offsets, counts };
}

/** Tells whether the row that this row belongs to was skipped. */
function isOrphan(db: Connection, table: SavedTable, row: Row): boolean {
  if (table.nameColumns.length > 0) return false;
  const [column, ownerTable] = Object.entries(table.refs)[0]!;
  return row[column] != null && db.get(sql.numberExists(ownerTable), row[column] as number) === undefined;
}

function findByName(db: Connection, table: SavedTable, row: Row): Row | undefined {
  return db.get(
    sql.rowByName(table.name, table.nameColumns),
    ...table.nameColumns.map((column) => (row[column] ?? null) as SqlValue),
  );
}

function insert(db: Connection, statement: string, values: SqlValue[]): number {
  try {
    return db.run(statement, ...values);
  } catch (error) {
    // A violated constraint means that the row is invalid. Other errors are passed on.
    throw isConstraintViolation(error) ? invalidError((error as Error).message) : error;
  }
}
