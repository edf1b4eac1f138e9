import { rmSync } from 'node:fs';
import { SETTING_KEYS } from '../../../core/settings.ts';
import { countOf } from '../../../core/words.ts';
import type { RepairReport, RepairSteps } from '../../contract/file-care.ts';
import { columnOutOfRange, intoRange, LARGEST_NUMBER } from '../../ranges.ts';
import type { Row, SqlValue } from '../../row.ts';
import { toClaimedJob } from '../../rows.ts';
import { SAVED_TABLES, type SavedTable, unreadableColumn } from '../../tables.ts';
import { type Connection, connect } from '../connection.ts';
import { isEpoch } from '../epoch.ts';
import { recomputeDerived } from '../load.ts';
import { HOLD_REASON } from '../mend.ts';
import { migrate } from '../migrate.ts';
import { readSettings } from '../settings.ts';
import { settle } from '../settle.ts';
import * as care from '../sql/care.ts';
import { epoch as readEpoch } from '../sql/epoch.ts';
import { problemsOf } from './check.ts';
import { createPrivateFile, type HeldStore } from './hold.ts';
import { type FoundRow, shapeOf } from './loose-rows.ts';
import { PART_SUFFIXES } from './owner.ts';
import { type DamagedCopy, openDamagedCopy } from './salvage.ts';

/**
 * Saves what can be read of a damaged database, row by row, into a new one at `draft`. Returns null if nothing can be read, or if
 * the trees are lost and no job was found. Keeps the epoch if it is known, so that running processes are found by their cookies.
 */
export async function repairSqlite(damaged: HeldStore, draft: string, steps: Steps) {
  createPrivateFile(draft);
  const connection = await connect(draft, { now: steps.now });
  const copy = `${draft}.wreck`;
  try {
    await migrate(connection);
    const source = openDamagedCopy(damaged, copy);
    if (source === null) return null;
    try {
      const repaired = await connection.write('migrate', () => saveAll(connection, source, steps));
      if (source.lacksTrees && repaired.jobs === 0) return null;
      return { ...repaired, problems: await problemsOf(connection) };
    } finally {
      source.close();
    }
  } finally {
    connection.close();
    for (const end of ['', ...PART_SUFFIXES]) rmSync(copy + end, { force: true });
  }
}

type Steps = Pick<RepairSteps, 'now' | 'knownEpoch' | 'settleLost'>;
type PartialReport = Omit<RepairReport, 'problems'>;

interface RepairProgress {
  db: Connection;
  source: DamagedCopy;
  report: PartialReport;
  /** The jobs in the id index of the damaged database, each as `NUMBER ID`. */
  indexedJobs: Set<string>;
}

function saveAll(db: Connection, source: DamagedCopy, steps: Steps): PartialReport {
  const report: PartialReport = { how: source.how, saved: {}, loose: {}, lost: [], jobs: 0 };
  const epoch = [source.column(readEpoch)[0], steps.knownEpoch()].find(isEpoch);
  if (epoch != null) db.run(care.setEpoch, epoch);
  const indexedJobs = new Set(source.lacksTrees ? [] : source.column(care.jobsByIndex));
  const progress = { db, source, report, indexedJobs };
  for (const table of SAVED_TABLES) saveTable(progress, table);
  if (source.lacksTrees) report.lost.push('the contents of destroyed pages');
  const nameless = db.run(care.deleteNamelessFigures);
  if (nameless > 0) report.lost.push(`${nameless} statistics whose queue and name are missing`);
  recomputeDerived(db);
  report.jobs = report.saved.job ?? 0;
  for (const one of missingJobs(progress)) report.lost.push(`job '${one.slice(one.indexOf(' ') + 1)}'`);
  // A running job whose attempt is gone is settled as lost. Workers find the processes of the others by their cookies.
  const settleLost = steps.settleLost(readSettings(db));
  for (const row of db.all(care.runningWithoutAttempt)) settle(db, settleLost(toClaimedJob(row)));
  db.run(care.deleteUnfinishedAttempts);
  db.run(care.recountRuns);
  db.run(care.recountWaiting);
  return report;
}

/** Returns the jobs that are in the id index of the damaged database and have not been saved. */
function missingJobs({ db, indexedJobs }: RepairProgress): Set<string> {
  const missing = new Set(indexedJobs);
  for (const { number, id } of db.all(care.jobIds)) missing.delete(`${number} ${id}`);
  return missing;
}

function saveTable(progress: RepairProgress, table: SavedTable): void {
  const { db, source, report } = progress;
  const columns = db.all(care.columnsOf, table.name).map((row) => String(row.name));
  const insert = care.insertRow(table.name, columns);
  const save = (row: Row) => rowProblem(table, row) ?? tryInsert(db, insert, columns, row, table);
  report.saved[table.name] = 0;
  let hasGaps = source.lacksTrees;
  const addGap = (why: string): void => {
    hasGaps = true;
    report.lost.push(why);
  };
  const keep = (found: Row): void => {
    const { row, changed } = intoRange(table.name, found);
    if (changed.length > 0) report.lost.push(`${nameOf(table, row)}: ${changed.join(', ')} out of range`);
    const problem = save(changed.length > 0 ? heldRow(table, row) : row);
    if (problem === null) report.saved[table.name]!++;
    else if (problem !== 'there already') report.lost.push(`${nameOf(table, row)}: ${problem}`);
  };
  source.rows(table.name, table.key, { keep, addGap });
  if (hasGaps || (table.name === 'job' && missingJobs(progress).size > 0)) saveByPage(progress, table, save);
}

/** Saves rows that are found page by page. Loose rows may be old or deleted, so loose jobs must be in the id index, if it is readable. */
function saveByPage(
  { db, source, report, indexedJobs }: RepairProgress,
  table: SavedTable,
  save: (row: Row) => string | null,
): void {
  const { name } = table;
  const isCurrent = ({ row, loose }: FoundRow): boolean =>
    !loose || name !== 'job' || indexedJobs.size === 0 || indexedJobs.has(`${row.number} ${row.id}`);
  const fit = (found: FoundRow): boolean => isCurrent(found) && belongsTo(db, name, found.row);
  let refused = 0;
  for (const { row, loose } of source.rowsByPage(shapeOf(db, table), fit)) {
    const problem = columnOutOfRange(name, row) === undefined ? save(row) : 'out of range';
    if (problem === null) report.saved[name]!++;
    else if (problem !== 'there already') refused++;
    if (problem === null && loose) report.loose[name] = (report.loose[name] ?? 0) + 1;
  }
  if (refused > 0)
    report.lost.push(`${name}: ${countOf(refused, 'row')} found page by page did not pass the checks`);
}

/** Tells whether a row belongs to this table. Rows of some tables look like those of another. */
function belongsTo(db: Connection, table: string, { key, job, attempt, bytes, stderr }: Row): boolean {
  if (table === 'setting') return SETTING_KEYS.some((one) => one === key);
  const query = care.FITTING_ROW[table];
  const length = (part: Row[string] | undefined): number => (part instanceof Uint8Array ? part.length : 0);
  if (query === undefined) return true;
  return db.get(query, (job ?? attempt) as number, length(bytes) + length(stderr)) !== undefined;
}

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
