import { LARGEST_IMPORTED } from '../../ranges.ts';
import { JOB } from '../../rows.ts';
import { FROM_JOB } from './fragments.ts';

/* These statements may read whole tables, unlike those in the other files. */

export const quickCheck = 'PRAGMA quick_check(20)';
export const schemaObjects = `SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name`;

export const integrityCheck = 'PRAGMA integrity_check(50)';
export const foreignKeyCheck = 'PRAGMA foreign_key_check';

/** Checks what only this store has. */
export const OWN_RULES: Record<string, string> = {
  'no job comes before the first ready or waiting job of its queue': `SELECT id AS row FROM job JOIN queue ON queue.number = job.queue
    WHERE phase = 'ready' AND (ready_job IS NULL OR (-priority, job.number) < (-ready_priority, ready_job))
    UNION ALL SELECT id FROM job JOIN queue ON queue.number = job.queue
    WHERE phase = 'waiting' AND (next_due_at IS NULL OR due_at < next_due_at)`,
  'no number is used twice': `SELECT name AS row FROM sqlite_sequence WHERE
    (name = 'job' AND seq < (SELECT max(number) FROM job)) OR (name = 'attempt' AND seq < (SELECT max(number) FROM attempt))
    UNION ALL SELECT 'event' WHERE coalesce((SELECT last FROM event_number), -1) < coalesce((SELECT max(number) FROM event), 0)`,
};

export const columnsOf = 'SELECT name, type FROM pragma_table_info(?)';
export const insertRow = (table: string, columns: string[]): string =>
  `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`;
export const insertNumberedQueue = 'INSERT INTO queue (number, name) VALUES (?, ?)';
export const jobIds = 'SELECT id FROM job';
/** Reads the ids of all jobs from their index alone. */
export const jobIdsByIndex = 'SELECT id FROM job INDEXED BY sqlite_autoindex_job_1';
export const runningWithoutAttempt = `SELECT ${JOB} ${FROM_JOB} WHERE phase = 'running' AND NOT EXISTS (SELECT 1 FROM attempt
  WHERE attempt.number = job.attempt AND attempt.token = job.token AND finished_at IS NULL)`;
/** Deletes unfinished attempts of jobs that no longer run: the end of the job was saved, that of the attempt was not. */
export const deleteUnfinishedAttempts = `DELETE FROM attempt WHERE finished_at IS NULL AND NOT EXISTS
  (SELECT 1 FROM job WHERE job.number = attempt.job AND phase = 'running' AND job.attempt = attempt.number)`;
export const deleteNamelessFigures = 'DELETE FROM rollup WHERE kind NOT IN (SELECT number FROM rollup_kind)';
/** The value is the highest number of the jobs that were there before. */
export const recomputeBounds = `UPDATE queue SET (ready_priority, ready_job) = (SELECT priority, number FROM job
    WHERE phase = 'ready' AND job.queue = queue.number ORDER BY priority DESC, number LIMIT 1),
  next_due_at = (SELECT min(due_at) FROM job WHERE phase = 'waiting' AND job.queue = queue.number)
  WHERE number IN (SELECT queue FROM job WHERE number > ?)`;
export const recountWaiting = `UPDATE schedule SET waiting =
  (SELECT count(*) FROM tick WHERE tick.schedule = schedule.number AND tick.phase = 'waiting')`;

export const rowsAfter = (table: string, key: string): string =>
  `SELECT * FROM ${table} WHERE ${key} > ? ORDER BY ${key}`;
export const rowsInOrder = (table: string, key: string[], direction: 'ASC' | 'DESC'): string =>
  `SELECT * FROM ${table} ORDER BY ${key.map((column) => `${column} ${direction}`).join(', ')}`;

/** Raises the number of the last event to one that was used. */
export const setEventNumber =
  'UPDATE event_number SET last = max(last, ?, coalesce((SELECT max(number) FROM event), 0))';
export const highestNumber = (table: string): string =>
  table === 'event'
    ? 'SELECT last AS number FROM event_number'
    : `SELECT max(coalesce((SELECT max(number) FROM ${table}), 0),
  coalesce((SELECT seq FROM sqlite_sequence WHERE name = '${table}'), 0)) AS number`;
/** Keeps the numbers of all jobs of events from being used again, so that no event of a removed job becomes one of a later job. */
export const reserveJobNumbers = `INSERT OR REPLACE INTO sqlite_sequence (rowid, name, seq)
  SELECT (SELECT rowid FROM sqlite_sequence WHERE name = 'job'), 'job', highest
  FROM (SELECT max(first_job + jobs - 1) AS highest FROM event WHERE first_job + jobs - 1 <= ${LARGEST_IMPORTED})
  WHERE highest > coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'job'), 0)`;
export const numberExists = (table: string): string => `SELECT 1 FROM ${table} WHERE number = ?`;
