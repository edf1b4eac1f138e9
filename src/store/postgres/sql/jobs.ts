import { FIELD_COLUMNS, PLAIN_COLUMNS } from '../../job-columns.ts';
import { CURRENT_COUNTS } from './fold.ts';
import { FROM_JOB, JOB } from './fragments.ts';

/** The columns of `job` that hold numbers. All others that an insert sets hold texts. */
const NUMBER_COLUMNS = [
  ...[
    'queue',
    'priority',
    'max_retries',
    'timeout_ms',
    'run_at',
    'blockers',
    'created_at',
    'updated_at',
    'due_at',
  ],
  'unique_until',
];
const typeOf = (column: string): string =>
  column === 'backoff_base' ? 'double precision' : NUMBER_COLUMNS.includes(column) ? 'bigint' : 'text';

/** Returns a statement that inserts many jobs in the given order. Each parameter is an array with one column of all jobs. */
function insertSql(columns: readonly string[], fixed: Record<string, string>): string {
  const arrays = columns.map((column, i) => `$${i + 1}::${typeOf(column)}[]`);
  const given = columns.map((_, i) => `c${i}`);
  return `INSERT INTO job (${[...columns, ...Object.keys(fixed)]})
    SELECT ${[...given, ...Object.values(fixed)]} FROM unnest(${arrays}) WITH ORDINALITY AS given (${given}, ordinal)
    ORDER BY ordinal ON CONFLICT DO NOTHING RETURNING number, id`;
}

/** The columns of pushValues and pushPlainValues in new-rows.ts, in the same order. */
const ALL_COLUMNS = [...FIELD_COLUMNS, 'blockers', 'phase', 'created_at', 'updated_at', 'due_at'];
export const insertJobs = insertSql(ALL_COLUMNS, { state: "'pending'" });
export const insertPlainJobs = insertSql([...PLAIN_COLUMNS, 'created_at', 'updated_at', 'due_at'], {
  state: "'pending'",
  phase: "'ready'",
});
export const insertUniqueJob = insertSql(
  [...ALL_COLUMNS, 'unique_key', 'unique_while', 'unique_until', 'unique_slot'],
  { state: "'pending'" },
);
export const freeExpiredSlot =
  'UPDATE job SET unique_slot = NULL WHERE unique_slot = $1 AND unique_until <= $2';
/** Stores the stdin of jobs, and its size as the bytes of each job. */
export const insertStdin = `WITH given AS (SELECT * FROM unnest($1::bigint[], $2::bytea[]) AS one (job, bytes)),
  counted AS (UPDATE job SET bytes = length(given.bytes) FROM given WHERE number = given.job)
  INSERT INTO stdin (job, bytes) SELECT job, bytes FROM given`;
export const jobBySlot = `SELECT ${JOB} ${FROM_JOB} WHERE unique_slot = $1`;
export const freeExpiredKey = 'DELETE FROM idempotency WHERE key = $1 AND used_at <= $2';
export const takeKey =
  'INSERT INTO idempotency (key, body, used_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING';
export const storeIdsOfKey = 'UPDATE idempotency SET ids = $1 WHERE key = $2';
export const useOfKey = 'SELECT body, used_at, ids FROM idempotency WHERE key = $1';

export const jobById = `SELECT ${JOB} ${FROM_JOB} WHERE id = $1`;
export const jobsByIds = `SELECT ${JOB} ${FROM_JOB} WHERE id = ANY($1)`;
export const counts = `SELECT queue.name AS queue, state, jobs::bigint FROM (${CURRENT_COUNTS}) AS current
  JOIN queue ON queue.number = current.queue`;
