import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { QueueError } from '../../../core/errors.ts';
import { orNull } from '../../../core/text/language.ts';
import { shellWord } from '../../../core/text/shell-quote.ts';
import { syncFile } from '../../../files/durable.ts';
import { newDraft, removeDraft } from '../../../files/write.ts';
import type { RepairReport, RepairResult, RepairSteps } from '../../contract/file-care.ts';
import { recomputeDerived } from '../../parts/load.ts';
import { foldAll } from '../../parts/log.ts';
import { settleAsLost } from '../../parts/settle.ts';
import { transferStatements } from '../../parts/transfer.ts';
import { intoRange, LARGEST_NUMBER } from '../../ranges.ts';
import type { Row, SqlValue } from '../../row.ts';
import { SELECT_SETTINGS, toSettings } from '../../settings.ts';
import { type Engine, run, type Steps } from '../../steps.ts';
import { SAVED_TABLES, type SavedTable, savedTable, unreadableColumn } from '../../tables.ts';
import { type Connection, connect, withoutBigInts } from '../connection.ts';
import { runSteps, sqliteEngine } from '../engine.ts';
import { migrate } from '../migrate.ts';
import { isEpoch, SELECT_EPOCH } from '../on-demand-store.ts';
import * as care from '../sql/care.ts';
import { isSoundStore, problemsOf } from './check.ts';
import { withCopy } from './copy.ts';
import { missingError } from './odd-file.ts';
import { createPrivateFile, lockSqlite, refuseReplacing, swap } from './swap.ts';

/** Implements `FileCare.repair`: saves the rows that SQLite can read in a new file, which then replaces the damaged one. */
export async function repairStore(
  location: string,
  anyOwner: boolean,
  steps: RepairSteps,
): Promise<RepairResult> {
  if (!existsSync(location)) throw missingError(resolve(location));
  const db = realpathSync(location);
  refuseReplacing(location, db, anyOwner);
  if (await isSoundStore(db))
    throw new QueueError('wrong-state', `db check found no damage in ${db}. The file was not changed`);
  const draft = newDraft(db);
  // The store is locked before it is read and until it is replaced, because a change in between would be lost.
  const held = await lockSqlite(db);
  try {
    const report = held.database && (await saveRows(held.database, draft, steps));
    if (report === null || (report.jobs === 0 && report.lost.length > 0)) throw beyondRepair(db, report);
    await withCopy(draft, steps.accept);
    syncFile(draft);
    return { db, ...report, kept: swap(draft, db, held, { word: 'damaged', now: steps.now() })! };
  } finally {
    held.unlock();
    removeDraft(draft);
  }
}

function beyondRepair(db: string, report: RepairReport | null): QueueError {
  const word = shellWord(db);
  return new QueueError(
    'store-corrupt',
    `no job could be recovered from ${db} (${report?.lost[0] ?? 'SQLite cannot read it'}). The file was not changed`,
    `restore a backup: queuectl restore FILE. Or search the file for rows: sqlite3 ${word} .recover >rows.sql`,
  );
}

type SaveSteps = Pick<RepairSteps, 'now' | 'knownEpoch' | 'settleLost'>;

/**
 * Saves the readable rows of a damaged store in a new store at `draft`. Returns null if SQLite cannot read the schema. Keeps the epoch
 * if it is known, so that running processes are found by their cookies.
 */
async function saveRows(source: DatabaseSync, draft: string, steps: SaveSteps): Promise<RepairReport | null> {
  if (firstColumn(source, care.schemaObjects).length === 0) return null;
  createPrivateFile(draft);
  const connection = await connect(draft, { now: steps.now });
  try {
    await migrate(connection);
    const engine = sqliteEngine(connection);
    const report = await connection.write('migrate', () =>
      runSteps(connection, saveAll(engine, connection, source, steps)),
    );
    return { ...report, problems: await problemsOf(connection) };
  } finally {
    connection.close();
  }
}

/** Returns the first column of a query, or nothing if the damaged store cannot answer it. */
function firstColumn(source: DatabaseSync, query: string): string[] {
  return orNull(() => source.prepare(query).all())?.map((row) => String(Object.values(row)[0])) ?? [];
}

function* saveAll(
  engine: Engine,
  db: Connection,
  source: DatabaseSync,
  steps: SaveSteps,
): Steps<Omit<RepairReport, 'problems'>> {
  const saved: Record<string, number> = {};
  const lost: string[] = [];
  const epoch = [firstColumn(source, SELECT_EPOCH)[0], steps.knownEpoch()].find(isEpoch);
  if (epoch != null) yield* run(transferStatements(engine.dialect).setEpoch, epoch);
  for (const table of SAVED_TABLES) saved[table.name] = saveTable(db, source, table, lost);
  saveTable(db, source, LOG, lost);
  db.run(care.setEventNumber, Number(firstColumn(source, 'SELECT last FROM event_number')[0] ?? 0));
  yield* foldAll(engine);
  const nameless = db.run(care.deleteNamelessFigures);
  if (nameless > 0) lost.push(`${nameless} statistics whose queue and name are missing`);
  yield* recomputeDerived(engine, 0);
  // The index of ids may name jobs whose rows are lost.
  const missing = new Set(firstColumn(source, care.jobIdsByIndex));
  for (const { id } of db.all(care.jobIds)) missing.delete(String(id));
  for (const id of missing) lost.push(`job '${id}'`);
  // A running job whose attempt is gone is settled as lost. Workers find the processes of the others by their cookies.
  const settleLost = steps.settleLost(toSettings(db.all(SELECT_SETTINGS)));
  yield* settleAsLost(engine, db.all(care.runningWithoutAttempt), settleLost);
  db.run(care.deleteUnfinishedAttempts);
  db.run(care.recountWaiting);
  return { saved, lost, jobs: saved.job ?? 0 };
}

/** The changes that are not folded yet. Exports have no such table. */
const LOG: SavedTable = { ...savedTable('event'), name: 'log', key: ['seq'], numbered: false, refs: {} };

/** Saves the rows of a table and adds to `lost` what could not be saved. Returns the number of saved rows. */
function saveTable(db: Connection, source: DatabaseSync, table: SavedTable, lost: string[]): number {
  const columns = db
    .all(care.columnsOf, table.name)
    .map((row) => String(row.name))
    .filter((column) => !table.ownColumns.includes(column));
  const insert = care.insertRow(table.name, columns);
  let saved = 0;
  const keep = (found: Row): void => {
    const { row, changed } = intoRange(table.name, found);
    if (changed.length > 0) lost.push(`${nameOf(table, row)}: ${changed.join(', ')} out of range`);
    const fitting = changed.length > 0 ? heldRow(table, row) : row;
    const problem = rowProblem(table, fitting) ?? tryInsert(db, insert, columns, fitting, table);
    if (problem === null) saved++;
    else if (problem !== 'there already') lost.push(`${nameOf(table, row)}: ${problem}`);
  };
  readRows(source, table, keep, (gap) => lost.push(gap));
  return saved;
}

const HOLD_REASON =
  'repaired: some numbers or times were out of range and were changed; check the job, then release it';

/** Returns the row of a waiting job as held, so that its owner can check it. Returns other rows unchanged. */
function heldRow({ name }: SavedTable, row: Row): Row {
  const isWaiting = name === 'job' && ['ready', 'waiting', 'blocked'].includes(String(row.phase));
  return isWaiting ? { ...row, phase: 'held', last_error: HOLD_REASON } : row;
}

/** Returns why the row must not be saved, or null. */
function rowProblem(table: SavedTable, row: Row): string | null {
  const column = unreadableColumn(table, row);
  if (column !== undefined) return `its ${column} is unreadable`;
  const numbers = [...(table.numbered ? ['number'] : []), ...Object.keys(table.refs)];
  const odd = numbers.find((one) => Number(row[one] ?? 0) < 0 || Number(row[one] ?? 0) > LARGEST_NUMBER);
  return odd === undefined ? null : `its ${odd} is out of range`;
}

/** Returns why the row could not be inserted, or null if it was. */
function tryInsert(db: Connection, insert: string, columns: string[], row: Row, table: SavedTable) {
  const values = columns.map((column) => (row[column] ?? null) as SqlValue);
  try {
    if (table.name === 'job' && db.get(care.numberExists('queue'), row.queue as number) === undefined)
      db.run(care.insertNumberedQueue, row.queue as number, `recovered-${row.queue}`);
    return db.run(insert, ...values) === 1 ? null : 'there already';
  } catch (error) {
    return (error as Error).message;
  }
}

function nameOf(table: SavedTable, row: Row): string {
  const column = [...table.nameColumns, ...table.key].find((one) => row[one] != null);
  return `${table.name} '${row[column ?? '']}'`;
}

/** Calls `keep` with every row of a table that SQLite can read, and `addGap` with a description of each place where rows may be missing. */
function readRows(
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
  const query = care.rowsAfter(table, key);
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
      for (const row of rowsOf(db, care.rowsInOrder(table, key, direction))) {
        keep(row);
        if (++read > MOST_UNNUMBERED) throw new Error('its rows form a loop');
      }
      return;
    } catch (error) {
      addGap(`${table}: ${(error as Error).message}`);
    }
  }
}
