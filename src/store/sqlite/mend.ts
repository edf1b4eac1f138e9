import { LARGEST_NUMBER, NAME_COLUMNS, RANGES } from '../ranges.ts';
import { SAVED_TABLES } from '../tables.ts';
import type { Connection } from './connection.ts';
import { isFull } from './failures.ts';
import { recordJobEvent } from './record-events.ts';
import { outsideRangeSql } from './sql/ranges.ts';

/** At most this many rows of a table get a new number at once. */
const MOST_RENUMBERED = 10_000;

/** Corrects all values out of range after a write has failed because of one. Returns whether the write should be repeated. */
export function mendAfter(db: Connection, error: unknown): boolean {
  if (isFull(error) && !areNumbersUsedUp(db)) return false;
  db.exec('BEGIN IMMEDIATE');
  try {
    const changed = mend(db);
    db.exec('COMMIT');
    return changed;
  } catch {
    // The caller reports the original error. SQLite may have rolled back by itself.
    try {
      db.exec('ROLLBACK');
    } catch {}
    return false;
  }
}

/**
 * Puts numbers and times back into their ranges, so that one bad row does not stop the queue. It reads whole tables, and is
 * called only when a write has failed. A waiting job that was changed is held, so that its owner can check it. Returns whether
 * anything was changed.
 */
function mend(db: Connection): boolean {
  // A bad row may violate a CHECK of its table, and then no statement could change it.
  db.exec('PRAGMA ignore_check_constraints = ON; PRAGMA defer_foreign_keys = ON');
  try {
    const jobs = db.all(BAD_JOBS_SQL).map((row) => row.id as string);
    let changed = 0;
    for (const table of Object.keys(RANGES)) changed += db.run(clampSql(table));
    for (const table of Object.keys(NAME_COLUMNS)) changed += renumber(db, table);
    for (const id of jobs) {
      if (db.run(HOLD_JOB_SQL, HOLD_REASON, id) === 0) continue;
      recordJobEvent(db, { kind: 'held' }, id);
    }
    return changed > 0;
  } finally {
    db.exec('PRAGMA ignore_check_constraints = OFF');
  }
}

export const HOLD_REASON =
  'repaired: some numbers or times were out of range and were changed; check the job, then release it';
const HOLD_JOB_SQL = `UPDATE job SET phase = 'held', last_error = ?
  WHERE id = ? AND phase IN ('ready', 'waiting', 'blocked')`;

function badRowSql(table: string): string {
  return Object.entries(RANGES[table]!)
    .map(([column, range]) => outsideRangeSql(column, range))
    .join(' OR ');
}

const BAD_JOBS_SQL = `SELECT id FROM job WHERE ${badRowSql('job')} OR ${outsideRangeSql('number', [1, LARGEST_NUMBER])}`;

/** Returns a statement that puts all values of a table into their ranges. */
function clampSql(table: string): string {
  const columns = Object.entries(RANGES[table]!).map(
    ([column, [min, max]]) => `${column} = min(max(${column}, ${min}), ${max})`,
  );
  return `UPDATE OR IGNORE ${table} SET ${columns.join(', ')} WHERE ${badRowSql(table)}`;
}

/** Gives new numbers to rows whose number is out of range, because a new row would need a higher one. Returns the number of changes. */
function renumber(db: Connection, table: string): number {
  const bad = db.all(
    `SELECT CAST(number AS TEXT) AS number FROM ${table} WHERE ${outsideRangeSql('number', [1, LARGEST_NUMBER])} LIMIT ?`,
    MOST_RENUMBERED,
  );
  const sequence = `(SELECT seq FROM sqlite_sequence WHERE name = '${table}' AND seq BETWEEN 0 AND ${LARGEST_NUMBER})`;
  const highest = `max(coalesce(${sequence}, 0),
    coalesce((SELECT max(number) FROM ${table} WHERE number BETWEEN 1 AND ${LARGEST_NUMBER}), 0))`;
  for (const { number } of bad) {
    const next = db.get(`SELECT ${highest} + 1 AS number`)!.number as number;
    for (const [child, column] of referrers(table))
      db.run(`UPDATE ${child} SET ${column} = ? WHERE ${column} = CAST(? AS INTEGER)`, next, number!);
    db.run(`UPDATE ${table} SET number = ? WHERE number = CAST(? AS INTEGER)`, next, number!);
  }
  const reset = `UPDATE sqlite_sequence SET seq = ${highest} WHERE name = '${table}' AND seq <> ${highest}`;
  return bad.length + db.run(reset);
}

function referrers(table: string): [child: string, column: string][] {
  return SAVED_TABLES.flatMap(({ name, refs }) =>
    Object.entries(refs).flatMap(([column, target]): [string, string][] =>
      target === table ? [[name, column]] : [],
    ),
  );
}

/** Tells whether a row has a number that leaves none for new rows. Must be cheap, because it is called on a full disk, too. */
function areNumbersUsedUp(db: Connection): boolean {
  return Object.keys(NAME_COLUMNS).some(
    (table) => db.get(`SELECT 1 FROM ${table} WHERE number > ${LARGEST_NUMBER} LIMIT 1`) !== undefined,
  );
}
