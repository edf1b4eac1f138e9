import { rmSync } from 'node:fs';
import type { SQLInputValue } from 'node:sqlite';
import type { ClaimedJob } from '../../core/job.ts';
import type { Repaired } from '../open.ts';
import type { Settlement } from '../store.ts';
import * as care from './care-sql.ts';
import { problemsOf } from './check.ts';
import { settle } from './claims.ts';
import { type Connection, connect, type Row } from './connection.ts';
import { migrate } from './migrate.ts';
import { recount } from './recount.ts';
import { toClaimedJob } from './rows.ts';
import { openWreck, type Wreck } from './salvage.ts';
import * as sql from './sql.ts';
import { SAVED, type SavedTable } from './tables.ts';

/**
 * Row by row what can be read of the database at `path` into a new one at `draft`. Null: nothing could be. The epoch is kept,
 * so that what is still running is found by its cookie.
 */
export async function repairSqlite(
  path: string,
  draft: string,
  knownEpoch: string | null,
  lose: (job: ClaimedJob) => Settlement,
): Promise<Repaired | null> {
  const connection = await connect(draft);
  const copy = `${draft}.wreck`;
  try {
    await migrate(connection);
    const wreck = openWreck(path, copy);
    if (wreck === null) return null;
    try {
      const repaired = await connection.write('migrate', () => saveAll(connection, wreck, knownEpoch, lose));
      return { ...repaired, problems: await problemsOf(connection) };
    } finally {
      wreck.close();
    }
  } finally {
    connection.close();
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(copy + end, { force: true });
  }
}

type Saving = Omit<Repaired, 'problems'>;

function saveAll(
  db: Connection,
  wreck: Wreck,
  knownEpoch: string | null,
  lose: (job: ClaimedJob) => Settlement,
): Saving {
  const saving: Saving = { how: wreck.how, saved: {}, lost: [], jobs: 0 };
  const epoch = wreck.column(sql.epoch)[0] ?? knownEpoch;
  if (epoch !== null && /^[0-9a-f]{12}$/.test(epoch)) db.run(care.setEpoch, epoch);
  for (const table of SAVED) saveTable(db, wreck, table, saving);
  recount(db);
  saving.jobs = saving.saved.job ?? 0;
  const known = new Set(db.all(care.jobIds).map((row) => String(row.id)));
  for (const id of wreck.column(care.jobIdsByIndex)) if (!known.has(id)) saving.lost.push(`job '${id}'`);
  // A job that ran, and whose attempt is gone, is lost as after a crash; the others are found by their cookies.
  for (const row of db.all(care.runningWithoutAttempt)) settle(db, lose(toClaimedJob(row)));
  db.run(care.forgetUnfinished);
  db.run(care.countRuns);
  db.run(care.countWaiting);
  return saving;
}

function saveTable(db: Connection, wreck: Wreck, table: SavedTable, saving: Saving): void {
  const columns = db.all(care.columnsOf, table.name).map((row) => String(row.name));
  const insert = care.insertRow(table.name, columns);
  saving.saved[table.name] = 0;
  const gap = (why: string): void => void saving.lost.push(why);
  const keep = (row: Row): void => {
    const problem = bad(table, row) ?? tryInsert(db, insert, columns, row, table);
    if (problem === null) saving.saved[table.name]!++;
    else if (problem !== 'there already') saving.lost.push(`${nameOf(table, row)}: ${problem}`);
  };
  wreck.rows(table.name, table.key, keep, gap);
}

function bad(table: SavedTable, row: Row): string | null {
  for (const column of table.json) {
    const value = row[column];
    if (value === null || value === undefined) continue;
    try {
      JSON.parse(String(value));
    } catch {
      return `its ${column} is not readable`;
    }
  }
  return null;
}

function tryInsert(
  db: Connection,
  insert: string,
  columns: string[],
  row: Row,
  table: SavedTable,
): string | null {
  const values = columns.map((column) => (row[column] ?? null) as SQLInputValue);
  try {
    if (table.name === 'job' && db.get(care.queueExists, row.queue as number) === undefined)
      db.run(care.insertNumberedQueue, row.queue as number, `recovered-${row.queue}`);
    return db.run(insert, ...values) === 1 ? null : 'there already';
  } catch (error) {
    return (error as Error).message;
  }
}

function nameOf(table: SavedTable, row: Row): string {
  const name = [...table.name_of, ...table.key].map((column) => row[column]).find((value) => value != null);
  return `${table.name} '${name}'`;
}
