import { LARGEST_IMPORTED } from '../../ranges.ts';
/* These statements may read whole tables, unlike those in the other files. */

/** The reader of an export may pause for long, as a pager does. */
export const allowPauses = 'SET LOCAL idle_in_transaction_session_timeout = 0';
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
/** Keeps the numbers of all jobs of events from being used again, so that no event of a removed job becomes one of a later job. */
export const reserveJobNumbers = `SELECT setval(${sequenceOf('job')}, highest)
  FROM (SELECT max(first_job + jobs - 1) AS highest FROM event WHERE first_job + jobs - 1 <= ${LARGEST_IMPORTED}) AS used
  WHERE highest > coalesce(pg_sequence_last_value(${sequenceOf('job')}::regclass), 0)`;
export const setHighestNumber = (table: string): string =>
  table === 'event'
    ? 'UPDATE event_number SET last = (SELECT max(number) FROM event)'
    : `SELECT setval(${sequenceOf(table)}, (SELECT max(number) FROM ${table}))`;
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

/** $1 is the highest number of the jobs that were there before. */
export const markParents = `UPDATE job SET waited_for = 1
  WHERE waited_for = 0 AND number IN (SELECT parent FROM dependency WHERE child > $1)`;

const sequenceBehind = (table: string): string => `SELECT '${table}' AS row
  WHERE coalesce(pg_sequence_last_value(${sequenceOf(table)}::regclass), 0) < (SELECT max(number) FROM ${table})`;
/** Checks what only this store has. */
export const OWN_RULES: Record<string, string> = {
  'the bytes of shared output are counted': `SELECT number AS row FROM attempt WHERE shared_bytes <>
    (SELECT coalesce(sum(octet_length(bytes)), 0) FROM output_part WHERE output_part.attempt = attempt.number)`,
  'every job that others wait for is marked': `SELECT id AS row FROM job WHERE waited_for = 0
    AND EXISTS (SELECT 1 FROM dependency WHERE parent = job.number AND dependency.phase = 'open')`,
  'no number is used twice': `${['queue', 'job', 'attempt', 'schedule', 'rollup_kind'].map(sequenceBehind).join(' UNION ALL ')}
    UNION ALL SELECT 'event' FROM event_number WHERE last < (SELECT max(number) FROM event)`,
};

/** Reads the names of the tables and indexes that can be used. */
export const relations = `SELECT relname AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    LEFT JOIN pg_index ON indexrelid = pg_class.oid
  WHERE nspname = current_schema() AND coalesce(indisvalid AND indisready, true)`;
