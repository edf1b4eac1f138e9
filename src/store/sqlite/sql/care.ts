import { RANGES } from '../../ranges.ts';
import type { SavedTable } from '../../tables.ts';
import { outOfRangeRowsSql } from './ranges.ts';

/* These statements may read whole tables, unlike those in the other files. */

export const quickCheck = 'PRAGMA quick_check(20)';
export const schemaObjects = `SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name`;

export const keepOrigin = `INSERT INTO meta SELECT 'origin', value FROM meta WHERE key = 'epoch'
  ON CONFLICT DO UPDATE SET value = excluded.value`;
export const newEpoch = "UPDATE meta SET value = lower(hex(randomblob(6))) WHERE key = 'epoch'";
export const setLoadMark = `INSERT INTO meta VALUES ('load', ?) ON CONFLICT DO UPDATE SET value = excluded.value`;
export const loadMark = "SELECT value FROM meta WHERE key = 'load'";
export const deleteWorkers = 'DELETE FROM worker';
export const deleteSupervisors = 'DELETE FROM supervisor';

export const integrityCheck = 'PRAGMA integrity_check(50)';
export const foreignKeyCheck = 'PRAGMA foreign_key_check';

/** The rules that hold between rows. Each statement finds the rows that break its rule. */
export const INVARIANTS: Record<string, string> = {
  'the epoch and the origin have 12 hex digits': `SELECT key AS row FROM meta WHERE key IN ('epoch', 'origin')
    AND (length(value) <> 12 OR value GLOB '*[^0-9a-f]*')`,
  'numbers and times are within their ranges': Object.keys(RANGES).map(outOfRangeRowsSql).join(' UNION ALL '),
  'the counters match the rows': `SELECT queue || ' ' || state AS row FROM (
      SELECT queue, state, count(*) AS jobs, sum(bytes) AS bytes FROM job GROUP BY queue, state
      EXCEPT SELECT queue, state, jobs, bytes FROM counter)
    UNION SELECT queue || ' ' || state FROM counter c WHERE jobs > 0
      AND NOT EXISTS (SELECT 1 FROM job WHERE job.queue = c.queue AND job.state = c.state)`,
  'no job comes before the first ready or waiting job of its queue': `SELECT id AS row FROM job JOIN queue ON queue.number = job.queue
    WHERE phase = 'ready' AND (ready_job IS NULL OR (-priority, job.number) < (-ready_priority, ready_job))
    UNION ALL SELECT id FROM job JOIN queue ON queue.number = job.queue
    WHERE phase = 'waiting' AND (next_due_at IS NULL OR due_at < next_due_at)`,
  'every running job has an attempt that has not ended': `SELECT id AS row FROM job WHERE phase = 'running'
    AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.number = job.attempt AND attempt.job = job.number
      AND attempt.token = job.token AND finished_at IS NULL)`,
  'every attempt that has not ended belongs to a running job': `SELECT number AS row FROM attempt WHERE finished_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM job WHERE job.number = attempt.job AND phase = 'running' AND job.attempt = attempt.number)`,
  'no attempt number is higher than the run count of its job': `SELECT attempt.number AS row FROM attempt JOIN job ON job.number = attempt.job
    WHERE ordinal > runs`,
  'every job has the correct number of open dependencies': `SELECT id AS row FROM job WHERE blockers <>
    (SELECT count(*) FROM dependency WHERE child = job.number AND dependency.phase = 'open')
    OR (phase = 'blocked' AND blockers = 0) OR (phase IN ('ready', 'waiting', 'running') AND blockers > 0)`,
  'no job waits for a job that has ended or is gone': `SELECT child AS row FROM dependency WHERE phase = 'open'
    AND NOT EXISTS (SELECT 1 FROM job WHERE job.number = parent AND job.phase <> 'ended')`,
  'the number of waiting ticks is correct': `SELECT name AS row FROM schedule WHERE waiting <>
    (SELECT count(*) FROM tick WHERE tick.schedule = schedule.number AND tick.phase = 'waiting')`,
  'no number is used twice': `SELECT name AS row FROM sqlite_sequence WHERE
    (name = 'job' AND seq < (SELECT max(number) FROM job)) OR (name = 'attempt' AND seq < (SELECT max(number) FROM attempt))`,
};

/** Reads the rows of a table that hold JSON. `row` names the row. */
export const rowsWithJson = ({ name, nameColumns, json }: SavedTable): string =>
  `SELECT ${nameColumns[0]} AS row, ${Object.keys(json)} FROM ${name} WHERE coalesce(${Object.keys(json)}, NULL) IS NOT NULL`;
export const histograms = `SELECT tier || ' ' || at || ' ' || kind AS row, wait, wait_least, wait_most, run, run_least, run_most FROM rollup`;
export const setEpoch = "UPDATE meta SET value = ? WHERE key = 'epoch'";
export const columnsOf = 'SELECT name FROM pragma_table_info(?)';
export const insertRow = (table: string, columns: string[]): string =>
  `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`;
export const insertNumberedQueue = 'INSERT INTO queue (number, name) VALUES (?, ?)';
export const jobIds = 'SELECT id FROM job';
/** Reads the ids of all jobs from their index alone. */
export const jobIdsByIndex = 'SELECT id FROM job INDEXED BY sqlite_autoindex_job_1';
const RUNNING_JOBS = `SELECT job.*, queue.name AS queue, NULL AS end_reason FROM job
  JOIN queue ON queue.number = job.queue WHERE phase = 'running'`;
export const runningWithoutAttempt = `${RUNNING_JOBS} AND NOT EXISTS (SELECT 1 FROM attempt
  WHERE attempt.number = job.attempt AND attempt.token = job.token AND finished_at IS NULL)`;
/** Deletes unfinished attempts of jobs that no longer run: the end of the job was saved, that of the attempt was not. */
export const deleteUnfinishedAttempts = `DELETE FROM attempt WHERE finished_at IS NULL AND NOT EXISTS
  (SELECT 1 FROM job WHERE job.number = attempt.job AND phase = 'running' AND job.attempt = attempt.number)`;
export const anyFigure = 'SELECT 1 FROM rollup_kind LIMIT 1';
export const deleteNamelessFigures = 'DELETE FROM rollup WHERE kind NOT IN (SELECT number FROM rollup_kind)';
export const deleteCounters = 'DELETE FROM counter';
export const recountJobs = `INSERT INTO counter (queue, state, jobs, bytes)
  SELECT queue, state, count(*), sum(bytes) FROM job GROUP BY queue, state`;
export const recomputeBounds = `UPDATE queue SET (ready_priority, ready_job) = (SELECT priority, number FROM job
    WHERE phase = 'ready' AND job.queue = queue.number ORDER BY priority DESC, number LIMIT 1),
  next_due_at = (SELECT min(due_at) FROM job WHERE phase = 'waiting' AND job.queue = queue.number)`;
/** Counts the open dependencies. A lost dependency counts as met, because it is unknown how its parent ended. */
export const recountBlockers = `UPDATE job SET blockers =
  (SELECT count(*) FROM dependency WHERE child = job.number AND dependency.phase = 'open')
  WHERE depends_on IS NOT NULL OR blockers > 0`;
export const fixBlockedPhases = `UPDATE job SET phase = CASE WHEN blockers > 0 THEN 'blocked' ELSE 'waiting' END
  WHERE (phase = 'blocked' AND blockers = 0) OR (phase IN ('ready', 'waiting') AND blockers > 0)`;
/** Finds the parents that have ended or are missing although jobs still wait for them. */
export const endedParents = `SELECT DISTINCT dependency.parent AS number, coalesce(parent.state, 'deleted') AS end,
  coalesce(parent.id, child.depends_on ->> ('$[' || ordinal || '].id')) AS id
  FROM dependency JOIN job AS child ON child.number = dependency.child
  LEFT JOIN job AS parent ON parent.number = dependency.parent
  WHERE dependency.phase = 'open' AND coalesce(parent.phase, 'ended') = 'ended'`;
/** Raises run counts that are below the number of an attempt. Otherwise the next attempt would get a number that is taken. */
export const recountRuns = `UPDATE job SET runs = max(runs, (SELECT max(ordinal) FROM attempt WHERE attempt.job = job.number))
  WHERE number > ? AND number IN (SELECT job FROM attempt)`;
export const recountWaiting = `UPDATE schedule SET waiting =
  (SELECT count(*) FROM tick WHERE tick.schedule = schedule.number AND tick.phase = 'waiting')`;

export const rowsAfter = (table: string, key: string): string =>
  `SELECT * FROM ${table} WHERE ${key} > ? ORDER BY ${key}`;
export const rowsInOrder = (table: string, key: string[], direction: 'ASC' | 'DESC'): string =>
  `SELECT * FROM ${table} ORDER BY ${key.map((column) => `${column} ${direction}`).join(', ')}`;

export const highestNumber = (
  table: string,
): string => `SELECT max(coalesce((SELECT max(number) FROM ${table}), 0),
  coalesce((SELECT seq FROM sqlite_sequence WHERE name = '${table}'), 0)) AS number`;
export const rowByName = (table: string, columns: string[]): string =>
  `SELECT * FROM ${table} WHERE ${columns.map((column) => `${column} = ?`).join(' AND ')}`;
export const numberExists = (table: string): string => `SELECT 1 FROM ${table} WHERE number = ?`;
export const runningAbove = `${RUNNING_JOBS} AND job.number > ?`;
