import { FIELD_COLUMNS, PLAIN_COLUMNS } from '../../job-columns.ts';
import { FROM_JOB, JOB, READY_FOR_ALL, SET_ASIDE } from './fragments.ts';

const INSERT_JOB = `INSERT INTO job (${FIELD_COLUMNS}, blockers, phase, created_at, updated_at, due_at, state`;
const JOB_VALUES = `(${'?, '.repeat(FIELD_COLUMNS.length + 5)}'pending')`;
export const insertJob = `${INSERT_JOB}) VALUES ${JOB_VALUES}`;
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
/** Counts all jobs added to a queue at once. A trigger would run for each job. */
export const countAdded = `INSERT INTO counter (queue, state, jobs) VALUES (?, 'pending', ?)
  ON CONFLICT (queue, state) DO UPDATE SET jobs = jobs + excluded.jobs`;
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
export const queuesOfState = 'SELECT queue FROM counter WHERE state = ? AND jobs > 0';
/** Finds the jobs of a queue that are due and not ready yet, in the order of their due times. */
const DUE_NUMBERS = "SELECT number FROM job WHERE phase = 'waiting' AND queue = ? AND due_at <= ?";
export const countDue = `SELECT count(*) AS jobs FROM (${DUE_NUMBERS} LIMIT ?)`;
/** Lists find the ready jobs that ask for a label or a host by queue and state. */
export const anyPlacedOfQueue =
  "SELECT 1 FROM job INDEXED BY job_placed WHERE phase = 'ready' AND runs_on IS NOT NULL AND queue = ? LIMIT 1";
/** Reads a page of jobs by one index. `extra` holds further conditions, which contain no text of users. */
export const list = {
  all: (extra: string) =>
    `SELECT ${JOB} ${FROM_JOB} WHERE job.number < ?${extra} ORDER BY job.number DESC LIMIT ?`,
  byQueueAndState: (extra: string) => `SELECT ${JOB} ${FROM_JOB}
    WHERE job.queue = ? AND state = ? AND job.number < ?${extra} ORDER BY job.number DESC LIMIT ?`,
  bySetAside: (
    extra: string,
  ) => `SELECT ${JOB} FROM job INDEXED BY job_set_aside CROSS JOIN queue ON queue.number = job.queue
    WHERE ${SET_ASIDE} AND phase = ? AND job.queue = ? AND state = ? AND job.number < ?${extra} ORDER BY job.number DESC LIMIT ?`,
  byReady: (
    extra: string,
  ) => `SELECT ${JOB} FROM job INDEXED BY job_ready CROSS JOIN queue ON queue.number = job.queue
    WHERE ${READY_FOR_ALL} AND job.queue = ? AND job.priority = ? AND job.number < ?${extra} ORDER BY job.number DESC LIMIT ?`,
  byDue: (extra: string) => `SELECT ${JOB} ${FROM_JOB}
    WHERE job.number IN (${DUE_NUMBERS}) AND job.number < ?${extra} ORDER BY job.number DESC LIMIT ?`,
  byName: (extra: string) => `SELECT ${JOB} ${FROM_JOB}
    WHERE job.name = ? AND job.number < ?${extra} ORDER BY job.number DESC LIMIT ?`,
};
/** Reads the index alone, because the rows of dead jobs lie far apart among those of completed jobs. */
export const deadJobs = `SELECT job.number, id, queue.name AS queue, job.name, last_error AS error,
  coalesce(finished_at, updated_at) AS at FROM job INDEXED BY job_dead CROSS JOIN queue ON queue.number = job.queue
  WHERE state = 'dead' AND job.number < ? ORDER BY job.number DESC LIMIT ?`;
export const idsStartingWith = 'SELECT id FROM job WHERE id >= ? AND id < ? ORDER BY id LIMIT ?';
/** Finds the number of the last job of a scan that starts below a given number. */
export const scanEnd = {
  byQueueAndState:
    'SELECT number FROM job WHERE queue = ? AND state = ? AND number < ? ORDER BY number DESC LIMIT 1 OFFSET ?',
  bySetAside: `SELECT number FROM job INDEXED BY job_set_aside
    WHERE ${SET_ASIDE} AND phase = ? AND queue = ? AND state = ? AND number < ? ORDER BY number DESC LIMIT 1 OFFSET ?`,
  byReady: `SELECT number FROM job INDEXED BY job_ready
    WHERE ${READY_FOR_ALL} AND queue = ? AND priority = ? AND number < ? ORDER BY number DESC LIMIT 1 OFFSET ?`,
  byDue: `${DUE_NUMBERS} AND number < ? ORDER BY number DESC LIMIT 1 OFFSET ?`,
  byName: 'SELECT number FROM job WHERE name = ? AND number < ? ORDER BY number DESC LIMIT 1 OFFSET ?',
};
export const newestJobNumber = 'SELECT max(number) AS number FROM job';
const countSql = (where: string, index = ''): string =>
  `SELECT count(*) AS jobs FROM (SELECT 1 FROM job${index} WHERE ${where} LIMIT ?)`;
/** Counts jobs up to a limit. `extra` is the same as in `list`. */
export const countJobs = {
  all: (extra: string) => countSql(`job.number < ?${extra}`),
  byName: (extra: string) => countSql(`job.name = ? AND job.number < ?${extra}`),
  byQueueAndState: (extra: string) => countSql(`job.queue = ? AND state = ? AND job.number < ?${extra}`),
  bySetAside: (extra: string) =>
    countSql(
      `${SET_ASIDE} AND phase = ? AND job.queue = ? AND state = ? AND job.number < ?${extra}`,
      ' INDEXED BY job_set_aside',
    ),
  byReady: (extra: string) =>
    countSql(
      `${READY_FOR_ALL} AND job.queue = ? AND job.priority = ? AND job.number < ?${extra}`,
      ' INDEXED BY job_ready',
    ),
  byDue: (extra: string) => countSql(`job.number IN (${DUE_NUMBERS}) AND job.number < ?${extra}`),
};
export const attemptsOfJob = `SELECT number, ordinal, worker_id AS workerId, started_at AS startedAt, finished_at AS finishedAt,
  coalesce(duration_ms, finished_at - started_at) AS durationMs, why, exit_code AS exitCode, error,
  output_bytes AS outputBytes, truncated, left_behind AS leftBehind
  FROM attempt WHERE job = (SELECT number FROM job WHERE id = ?) ORDER BY ordinal`;
/**
 * Finds the jobs that were cancelled because of this one, directly or through others, and are still cancelled. ?2 is 1 to omit
 * those that an earlier end of this job has cancelled. A job and the jobs cancelled with it have the same `finished_at`.
 */
export const cancelledDueTo = `WITH RECURSIVE lost (number, at) AS (
    SELECT number, finished_at FROM job WHERE id = ?1
    UNION SELECT child, at FROM lost JOIN dependency ON dependency.parent = lost.number AND dependency.phase = 'failed'
      JOIN job ON job.number = child AND state = 'cancelled' AND (finished_at = at OR NOT ?2))
  SELECT id FROM lost JOIN job USING (number) WHERE id <> ?1 ORDER BY number`;
export const stdinOfJob = 'SELECT bytes FROM stdin WHERE job = (SELECT number FROM job WHERE id = ?)';
export const outputOfAttempt = 'SELECT bytes, stderr FROM output WHERE attempt = ?';
export const attemptNeedsPlace = `SELECT 1 FROM attempt WHERE number = ? AND (finished_at IS NULL
  OR (output_bytes > 0 AND NOT EXISTS (SELECT 1 FROM output WHERE output.attempt = attempt.number)))`;

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
