import { PLAIN_COLUMNS } from '../../job-columns.ts';
import { FROM_JOB, JOB } from './fragments.ts';
import { INSERT_JOB, JOB_VALUES } from './insert-one.ts';

/** Jobs are inserted in batches of these sizes, because one statement for each job would cost more. */
export const JOBS_AT_ONCE = [500, 50];
export const insertJobs = cachedByRows((rows) => `${INSERT_JOB}) VALUES ${repeated(JOB_VALUES, rows)}`);
/** Inserts jobs that need no other columns, with half as many values to bind. */
const INSERT_PLAIN = `INSERT INTO job (${PLAIN_COLUMNS}, created_at, updated_at, due_at, state, phase)`;
const PLAIN_VALUES = `(${'?, '.repeat(PLAIN_COLUMNS.length + 3)}'pending', 'ready')`;
export const insertPlainJobs = cachedByRows(
  (rows) => `${INSERT_PLAIN} VALUES ${repeated(PLAIN_VALUES, rows)}`,
);
export const insertedNumber = 'SELECT last_insert_rowid() AS number';
export const freeExpiredSlot =
  'UPDATE job SET unique_slot = NULL WHERE unique_slot = ? AND unique_until <= ?';
export const insertUniqueJob = `${INSERT_JOB}, unique_key, unique_while, unique_until, unique_slot)
  VALUES ${JOB_VALUES.slice(0, -1)}, ?, ?, ?, ?) ON CONFLICT (unique_slot) WHERE unique_slot IS NOT NULL DO NOTHING`;
export const insertStdin = 'INSERT INTO stdin (job, bytes) SELECT number, ? FROM job WHERE id = ?';
export const countStdin = 'UPDATE job SET bytes = ? WHERE id = ?';
export const jobBySlot = `SELECT ${JOB} ${FROM_JOB} WHERE unique_slot = ?`;
export const freeExpiredKey = 'DELETE FROM idempotency WHERE key = ? AND used_at <= ?';
export const takeKey = 'INSERT INTO idempotency (key, body, used_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
export const storeIdsOfKey = 'UPDATE idempotency SET ids = ? WHERE key = ?';
export const useOfKey = 'SELECT body, used_at, ids FROM idempotency WHERE key = ?';
export const jobById = `SELECT ${JOB} ${FROM_JOB} WHERE id = ?`;

function repeated(values: string, rows: number): string {
  return Array(rows).fill(values).join(', ');
}

/** Builds each statement once, when it is first needed. */
function cachedByRows(build: (rows: number) => string): (rows: number) => string {
  const statements = new Map<number, string>();
  return (rows) => {
    const text = statements.get(rows) ?? build(rows);
    statements.set(rows, text);
    return text;
  };
}
