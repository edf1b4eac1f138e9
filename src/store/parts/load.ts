import { QueueError } from '../../core/errors.ts';
import type { ExportedFilePart, ExportedRow, LoadCounts, LoadOptions } from '../contract/care.ts';
import { columnOutOfRange, LARGEST_IMPORTED } from '../ranges.ts';
import type { Row } from '../row.ts';
import { all, type Engine, get, type LoadedColumn, run, type Steps, statementsOf } from '../steps.ts';
import { SAVED_TABLES, type SavedTable, unreadableColumn } from '../tables.ts';
import { callerFunction, callerRows, withCallerErrors } from './caller-error.ts';
import { type EndedParent, handleParentEnds } from './dependencies.ts';
import { foldAll, lockLog } from './log.ts';
import { settleAsLost } from './settle.ts';
import { transferStatements } from './transfer.ts';

type Rows = Iterable<ExportedRow | ExportedFilePart>;

/** At most this many rows are inserted together. */
const ROWS_AT_ONCE = 500;

/* These statements may read whole tables. */

const OPEN_DEPENDENCIES =
  "(SELECT count(*) FROM dependency WHERE child = job.number AND dependency.phase = 'open')";

const loadStatements = statementsOf(({ isOneOf, json }) => ({
  anyFigure: 'SELECT 1 FROM rollup_kind LIMIT 1',
  rowsByName: (table: string, column: string): string =>
    `SELECT * FROM ${table} WHERE ${isOneOf(column, '$1')}`,
  existingNumbers: (table: string): string => `SELECT number FROM ${table} WHERE ${isOneOf('number', '$1')}`,

  /* $1 is the highest number of the jobs that were there before. */
  /** Raises run counts that are below the number of an attempt. Otherwise the next attempt would get a number that is taken. */
  recountRuns: `UPDATE job SET runs = highest FROM
      (SELECT job AS number, max(ordinal) AS highest FROM attempt WHERE job > $1 GROUP BY job) AS attempts
    WHERE job.number = attempts.number AND runs < highest`,
  /** Counts the open dependencies. A lost dependency counts as met, because it is unknown how its parent ended. */
  recountBlockers: `UPDATE job SET blockers = ${OPEN_DEPENDENCIES}
    WHERE number > $1 AND (depends_on IS NOT NULL OR blockers > 0) AND blockers <> ${OPEN_DEPENDENCIES}`,
  fixBlockedPhases: `UPDATE job SET phase = CASE WHEN blockers > 0 THEN 'blocked' ELSE 'waiting' END
    WHERE number > $1 AND ((phase = 'blocked' AND blockers = 0) OR (phase IN ('ready', 'waiting') AND blockers > 0))`,
  deleteCounters: 'DELETE FROM counter',
  recountJobs: `INSERT INTO counter (queue, state, jobs, bytes)
    SELECT queue, state, count(*), sum(bytes) FROM job GROUP BY queue, state`,
  /** Finds the parents that have ended or are missing although loaded jobs still wait for them. */
  endedParents: `SELECT DISTINCT dependency.parent AS number, coalesce(parent.state, 'deleted') AS "end",
      coalesce(parent.id, ${json('child.depends_on')} -> CAST(ordinal AS int) ->> 'id') AS id
    FROM dependency JOIN job AS child ON child.number = dependency.child
    LEFT JOIN job AS parent ON parent.number = dependency.parent
    WHERE dependency.child > $1 AND dependency.phase = 'open' AND coalesce(parent.phase, 'ended') = 'ended'
    ORDER BY number`,
}));

/** Rows of one table that set the same columns. */
interface Batch {
  table: SavedTable;
  columns: LoadedColumn[];
  rows: Row[];
  /** A row with the same name as another one has to come in a later batch, because it is compared with that one. */
  names: Set<unknown>;
  /** The index of the first row, among all rows that were read. */
  firstRow: number;
}

interface LoadState {
  onConflict: LoadOptions['onConflict'];
  /** The highest numbers in use before the load. They are added to the numbers of loaded rows, which therefore stay the same in an empty store. */
  offsets: Record<string, number>;
  columns: Map<string, LoadedColumn[]>;
  hasFigures: boolean;
  /** The numbers of queues and jobs that exist in this store, by the number of the imported row. Loaded jobs may depend on them. */
  existing: { queue: Map<unknown, number>; job: Map<unknown, number> };
  counts: LoadCounts;
  /** The rows that were read, but not inserted. */
  batch: Batch | null;
  rowsRead: number;
}

/** Loads all rows in one transaction. Other writers wait until it has ended. */
export async function load(db: Engine, rows: Rows, options: LoadOptions): Promise<LoadCounts> {
  const current: { batch: Batch | null } = { batch: null };
  const loadFrom = (firstSingle: number): Promise<LoadCounts> =>
    withCallerErrors(db.write('load', () => loadRows(db, rows, options, firstSingle, current)));
  try {
    return await loadFrom(Number.POSITIVE_INFINITY);
  } catch (error) {
    const isOfRow = error instanceof QueueError && /^import-(invalid|conflict)$/.test(error.code);
    const { batch } = current;
    if (!isOfRow || batch === null) throw error;
    // The rows of the batch are now inserted as they are read, so that the error comes while its own row is the last one read.
    return loadFrom(batch.firstRow);
  }
}

/**
 * Loads rows inside a transaction. From the row with the index `firstSingle` on, they are inserted one by one. `current` has the
 * batch that is being inserted.
 */
function* loadRows(
  db: Engine,
  rows: Rows,
  { onConflict, settleLost, keepFile, beforeCommit }: LoadOptions,
  firstSingle: number,
  current: { batch: Batch | null },
): Steps<LoadCounts> {
  current.batch = null;
  yield* lockLog(db);
  yield* db.lockTable('queue, job, attempt, schedule');
  // From now on no other transaction changes jobs, so the counters are exact after this fold.
  yield* foldAll(db);
  const state = yield* newLoad(db, onConflict);
  const insertBatch = function* (): Steps<void> {
    current.batch = state.batch;
    state.batch = null;
    if (current.batch !== null) yield* insert(db, state, current.batch);
    current.batch = null;
  };
  const keep = callerFunction(keepFile);
  for (const one of callerRows(rows)) {
    if ('table' in one) {
      const next = batchOf(one, state);
      const isSingle = state.rowsRead++ >= firstSingle;
      if (state.batch === null || isSingle || !addTo(state.batch, next)) {
        yield* insertBatch();
        state.batch = next;
      }
      if (isSingle) yield* insertBatch();
    } else {
      yield* insertBatch();
      const attempt = newNumberOf(state, 'attempt', one.attempt);
      if ((yield* existingNumbers(db, 'attempt', [attempt])).has(attempt)) keep({ ...one, attempt });
    }
  }
  yield* insertBatch();
  if (beforeCommit !== undefined) callerFunction(beforeCommit)(state.counts);
  yield* recomputeDerived(db, state.offsets.job!);
  // It is unknown how the jobs that were running in the other store ended.
  const running = yield* all(transferStatements(db.dialect).runningAbove, state.offsets.job!);
  yield* settleAsLost(db, running, settleLost);
  return state.counts;
}

/**
 * Recomputes values that follow from other rows, such as counters and blocked phases, after an import or a repair has inserted rows.
 * `highestOld` is the highest number of a job that was there before.
 */
export function* recomputeDerived(db: Engine, highestOld: number): Steps<void> {
  const sql = loadStatements(db.dialect);
  for (const statement of [
    sql.recountRuns,
    sql.recountBlockers,
    sql.fixBlockedPhases,
    db.dialect.recomputeOwn,
  ])
    yield* run(statement, highestOld);
  yield* run(db.dialect.reserveJobNumbers);
  yield* run(sql.deleteCounters);
  yield* run(sql.recountJobs);
  const ended = yield* all<Omit<EndedParent, 'at'>>(sql.endedParents, highestOld);
  const at = db.now();
  yield* handleParentEnds(
    db,
    ended.map((parent) => ({ ...parent, at })),
  );
}

function* newLoad(db: Engine, onConflict: LoadOptions['onConflict']): Steps<LoadState> {
  const offsets: Record<string, number> = {};
  const columns = new Map<string, LoadedColumn[]>();
  for (const { name, numbered, ownColumns } of SAVED_TABLES) {
    if (numbered) offsets[name] = (yield* get<{ number: number }>(db.dialect.highestNumber(name)))!.number;
    const found = yield* all<LoadedColumn>(db.dialect.columnsOf, name);
    columns.set(
      name,
      found.filter((column) => !ownColumns.includes(column.name)),
    );
  }
  const hasFigures = (yield* get(loadStatements(db.dialect).anyFigure)) !== undefined;
  const existing = { queue: new Map(), job: new Map() };
  const counts: LoadCounts = { added: {}, skipped: {} };
  return { onConflict, offsets, columns, hasFigures, existing, counts, batch: null, rowsRead: 0 };
}

/** Checks a row, and returns a batch that has only this row. */
function batchOf({ table: name, row }: ExportedRow, { columns, rowsRead }: LoadState): Batch {
  const table = SAVED_TABLES.find((one) => one.name === name);
  if (table === undefined) throw invalidError(`unknown table '${name}'`);
  const known = columns.get(name)!;
  checkColumns(
    table,
    row,
    known.map((column) => column.name),
  );
  return {
    table,
    columns: known.filter((column) => column.name in row),
    rows: [row],
    names: new Set(table.nameColumns.map((column) => row[column])),
    firstRow: rowsRead,
  };
}

/** Adds the row of another batch. Returns false if it has to come in a later batch. */
function addTo({ table, columns, rows, names }: Batch, other: Batch): boolean {
  const fits =
    table === other.table &&
    rows.length < ROWS_AT_ONCE &&
    [...other.names].every((name) => !names.has(name)) &&
    columns.length === other.columns.length &&
    columns.every((column, i) => column === other.columns[i]);
  if (!fits) return false;
  rows.push(...other.rows);
  for (const name of other.names) names.add(name);
  return true;
}

function* insert(db: Engine, state: LoadState, { table, columns, rows: given }: Batch): Steps<void> {
  const rows = (yield* withoutExisting(db, state, table, given)).map((row) => renumbered(state, table, row));
  // Figures are skipped with the kind that they belong to.
  const isSkipped = table.name === 'rollup_kind' && state.hasFigures;
  const owned = isSkipped ? [] : yield* withoutOrphans(db, table, rows);
  count(state, 'skipped', table.name, rows.length - owned.length);
  if (owned.length === 0) return;
  const added = yield* db.insertSaved(table, columns, owned);
  count(state, 'added', table.name, added);
  // A row of an unknown position was not inserted, because a unique key is taken.
  for (let left = owned.length - added; left > 0; left--) handleConflict(state, table, owned[0]!);
}

/** Handles the rows whose names are taken, and returns the others. */
function* withoutExisting(db: Engine, state: LoadState, table: SavedTable, rows: Row[]): Steps<Row[]> {
  const [column] = table.nameColumns;
  if (column === undefined) return rows;
  const names = rows.map((row) => row[column] ?? null);
  const found = yield* all(loadStatements(db.dialect).rowsByName(table.name, column), names);
  const byName = new Map(found.map((row) => [row[column], row]));
  return rows.filter((row) => {
    const other = byName.get(row[column] ?? null);
    if (other === undefined) return true;
    if (table.name === 'queue' || table.name === 'job')
      state.existing[table.name].set(row.number, other.number as number);
    const mayBeSame = table.name !== 'job' && table.name !== 'schedule';
    if (!(mayBeSame && isSame(other, row, table.ownColumns))) handleConflict(state, table, row);
    return false;
  });
}

function handleConflict(state: LoadState, table: SavedTable, row: Row): void {
  if (state.onConflict === 'fail')
    throw new QueueError('import-conflict', `${describeRow(table, row)} already exists in this database`);
  count(state, 'skipped', table.name);
}

function count({ counts }: LoadState, kind: 'added' | 'skipped', table: string, rows = 1): void {
  if (rows > 0) counts[kind][table] = (counts[kind][table] ?? 0) + rows;
}

/** Returns the number that an imported row has in this store. */
function newNumberOf({ existing, offsets }: LoadState, table: string, number: unknown): number {
  return (table === 'queue' ? existing.queue.get(number) : undefined) ?? Number(number) + offsets[table]!;
}

/** Returns a row with the numbers that it and the rows it refers to have in this store. */
function renumbered(state: LoadState, table: SavedTable, row: Row): Row {
  const newRow: Row = { ...row };
  if (table.numbered) newRow.number = checkNumber(table, newNumberOf(state, table.name, row.number));
  for (const [column, target] of Object.entries(table.refs))
    if (row[column] != null)
      newRow[column] =
        (column === 'parent' && state.existing.job.get(row.parent)) ||
        newNumberOf(state, target, row[column]);
  return newRow;
}

/** Returns the rows without those that belong to a row that was skipped. */
function* withoutOrphans(db: Engine, table: SavedTable, rows: Row[]): Steps<Row[]> {
  const [column, owner] = Object.entries(table.refs)[0] ?? [];
  if (table.nameColumns.length > 0 || column === undefined || rows.length === 0) return rows;
  const numbers = [...new Set(rows.flatMap((row) => (row[column] as number | null) ?? []))];
  const existing = yield* existingNumbers(db, owner!, numbers);
  return rows.filter((row) => row[column] == null || existing.has(row[column] as number));
}

function* existingNumbers(db: Engine, table: string, numbers: number[]): Steps<Set<number>> {
  const rows = yield* all<{ number: number }>(loadStatements(db.dialect).existingNumbers(table), numbers);
  return new Set(rows.map((row) => row.number));
}

/** Columns that may differ between equal rows: the number, the current tokens of a rate limit, and when a setting was changed. */
const VARYING_COLUMNS = new Set(['number', 'tokens', 'tokens_at', 'updated_at']);

/** Tells whether an existing row and an imported one are equal. */
function isSame(a: Row, b: Row, ownColumns: readonly string[]): boolean {
  return Object.keys(a).every(
    (column) =>
      VARYING_COLUMNS.has(column) ||
      ownColumns.includes(column) ||
      (a[column] ?? null) === (b[column] ?? null),
  );
}

/** Throws if the row has a column that is unknown, or a value that cannot be stored. */
function checkColumns(table: SavedTable, row: Row, known: string[]): void {
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
function checkNumber({ name }: SavedTable, number: number): number {
  if (number > 0 && number <= LARGEST_IMPORTED) return number;
  throw invalidError(`its number is out of range: ${number} leaves too few numbers for new ${name}s`);
}

function invalidError(why: string): QueueError {
  return new QueueError('import-invalid', why);
}

function inRow(table: SavedTable, row: Row): string {
  return table.nameColumns.length === 0 ? '' : ` (${describeRow(table, row)})`;
}

function describeRow(table: SavedTable, row: Row): string {
  return `${table.name} '${table.nameColumns.map((column) => row[column]).join(' ')}'`;
}
