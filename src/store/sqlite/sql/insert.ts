import { PLAIN_COLUMNS } from '../../job-columns.ts';
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
export const insertUniqueJob = `${INSERT_JOB}, unique_key, unique_while, unique_until, unique_slot)
  VALUES ${JOB_VALUES.slice(0, -1)}, ?, ?, ?, ?) ON CONFLICT (unique_slot) WHERE unique_slot IS NOT NULL DO NOTHING`;

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
