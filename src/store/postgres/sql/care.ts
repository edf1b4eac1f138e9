import { DIRECTORY_OF_HOST, FROM_JOB, isElsewhere, JOB, otherHost } from './fragments.ts';

/* These statements may read whole tables, unlike those in the other files. */

export const keepOrigin = `INSERT INTO meta SELECT 'origin', value FROM meta WHERE key = 'epoch'
  ON CONFLICT (key) DO UPDATE SET value = excluded.value`;
export const setEpoch = "UPDATE meta SET value = $1 WHERE key = 'epoch'";
export const setLoadMark = `INSERT INTO meta VALUES ('load', $1) ON CONFLICT (key) DO UPDATE SET value = excluded.value`;
export const loadMark = "SELECT value FROM meta WHERE key = 'load'";
export const deleteWorkers = 'DELETE FROM worker';
export const deleteSupervisors = 'DELETE FROM supervisor';

/** The reader of an export may pause for long, as a pager does. */
export const allowPauses = 'SET LOCAL idle_in_transaction_session_timeout = 0';
export const rowsInOrder = (table: string, key: string[]): string =>
  `SELECT * FROM ${table} ORDER BY ${key.join(', ')}`;
/** Reads the events that are not folded yet, with the numbers that they will get. */
export const unfoldedEvents = `SELECT last + sum(jobs) OVER (ORDER BY seq) AS number, at, kind, actor, jobs, first_job, id, queue,
    attempt, detail
  FROM log CROSS JOIN event_number WHERE kind IS NOT NULL ORDER BY seq`;

/** Finds the ended attempts whose output is in a file and was shared, with the host that has the file, unless that is the one with the id $1 and the boot $2. */
export const attemptsWithParts = `SELECT number, ${otherHost('$1', '$2')} AS name,
    CASE WHEN ${isElsewhere('$1', '$2')} THEN ${DIRECTORY_OF_HOST} END AS directory FROM attempt
  WHERE finished_at IS NOT NULL AND shared_bytes > 0 ORDER BY number`;
export const partsOfAttempt =
  'SELECT stream, at, bytes FROM output_part WHERE attempt = $1 ORDER BY stream DESC, at';

/** Locks out all other writers, because loaded rows get numbers that are not drawn from the sequences. */
export const lockTables = 'LOCK TABLE queue, job, attempt, schedule IN EXCLUSIVE MODE';
export const columnsOf = `SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
  WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`;
const sequenceOf = (table: string): string => `pg_get_serial_sequence('${table}', 'number')`;
/**
 * Returns the highest number that was used in a table. A rollback does not reset a sequence. So in a store without any event, which
 * was never used, the sequences do not count.
 */
export const highestNumber = (table: string): string =>
  table === 'event'
    ? 'SELECT last AS number FROM event_number'
    : `SELECT greatest((SELECT max(number) FROM ${table}),
        (SELECT pg_sequence_last_value(${sequenceOf(table)}::regclass) FROM event_number WHERE last > 0), 0) AS number`;
export const setHighestNumber = (table: string): string =>
  table === 'event'
    ? 'UPDATE event_number SET last = (SELECT max(number) FROM event)'
    : `SELECT setval(${sequenceOf(table)}, (SELECT max(number) FROM ${table}))`;
export const anyFigure = 'SELECT 1 FROM rollup_kind LIMIT 1';
export const rowsByName = (table: string, column: string): string =>
  `SELECT * FROM ${table} WHERE ${column} = ANY($1)`;
export const existingNumbers = (table: string): string =>
  `SELECT number FROM ${table} WHERE number = ANY($1::bigint[])`;

/**
 * Returns a statement that inserts many rows. Each parameter is an array with one column of all rows. The columns in `same` have the
 * same value in all rows, each by one more parameter.
 */
export function insertRows(table: string, columns: { name: string; type: string }[], same: string[]): string {
  const arrays = columns.map(({ type }, i) => `$${i + 1}::${type}[]`);
  const values = same.map((_, i) => `, $${columns.length + i + 1}`);
  return `INSERT INTO ${table} (${[...columns.map(({ name }) => name), ...same].join(', ')})
    SELECT given.*${values.join('')} FROM unnest(${arrays.join(', ')}) AS given ON CONFLICT DO NOTHING`;
}

/* $1 is the highest number of the jobs that were there before. */
const COUNT_OPEN = "(SELECT count(*) FROM dependency WHERE child = job.number AND dependency.phase = 'open')";
/** Raises run counts that are below the number of an attempt. Otherwise the next attempt would get a number that is taken. */
export const recountRuns = `UPDATE job SET runs = highest FROM
    (SELECT job AS number, max(ordinal) AS highest FROM attempt WHERE job > $1 GROUP BY job) AS attempts
  WHERE job.number = attempts.number AND runs < highest`;
export const recountBlockers = `UPDATE job SET blockers = ${COUNT_OPEN} WHERE number > $1 AND blockers <> ${COUNT_OPEN}`;
export const fixBlockedPhases = `UPDATE job SET phase = CASE WHEN blockers > 0 THEN 'blocked' ELSE 'waiting' END
  WHERE number > $1 AND ((phase = 'blocked' AND blockers = 0) OR (phase IN ('ready', 'waiting') AND blockers > 0))`;
export const markParents = `UPDATE job SET waited_for = 1
  WHERE waited_for = 0 AND number IN (SELECT parent FROM dependency WHERE child > $1)`;
/** Finds the parents that have ended or are missing although loaded jobs still wait for them. */
export const endedParents = `SELECT DISTINCT dependency.parent AS number, coalesce(parent.state, 'deleted') AS "end",
  coalesce(parent.id, child.depends_on::json -> ordinal::int ->> 'id') AS id
  FROM dependency JOIN job AS child ON child.number = dependency.child
  LEFT JOIN job AS parent ON parent.number = dependency.parent
  WHERE dependency.child > $1 AND dependency.phase = 'open' AND coalesce(parent.phase, 'ended') = 'ended'
  ORDER BY number`;
export const runningAbove = `SELECT ${JOB}, NULL AS end_reason ${FROM_JOB}
  WHERE job.phase = 'running' AND job.number > $1 ORDER BY job.number`;
export const deleteCounters = 'DELETE FROM counter';
export const recountJobs = `INSERT INTO counter (queue, state, jobs, bytes)
  SELECT queue, state, count(*), sum(bytes) FROM job GROUP BY queue, state`;
