import { COUNTS, NAME_COLUMNS, RANGES, type Range } from '../../ranges.ts';
import { SAVED_TABLES } from '../../tables.ts';
import { CURRENT_COUNTS } from './fold.ts';

/* These statements may read whole tables. */

const outside = (column: string, [min, max]: Range): string => `(${column} < ${min} OR ${column} > ${max})`;

/** Returns a query for the rows that hold a number or a time out of range, with the names of the columns. */
function outOfRange(table: string): string {
  // In this store, no column follows from other rows.
  const derived = SAVED_TABLES.find(({ name }) => name === table)?.derivedColumns ?? [];
  const ranges = Object.entries({
    ...(NAME_COLUMNS[table] ? { number: COUNTS } : {}),
    ...RANGES[table],
  }).filter(([column]) => !derived.includes(column));
  const columns = ranges.map(([one, range]) => `CASE WHEN ${outside(one, range)} THEN '${one}' END`);
  const name = NAME_COLUMNS[table] ?? Object.keys(RANGES[table]!)[0]!;
  return `SELECT '${table} ' || ${name} || ': ' || concat_ws(', ', ${columns.join(', ')}) AS row FROM ${table}
    WHERE ${ranges.map(([column, range]) => outside(column, range)).join(' OR ')}`;
}

const COUNTED_ROWS =
  'SELECT queue, state, count(*) AS jobs, sum(bytes) AS bytes FROM job GROUP BY queue, state';
const sequenceBehind = (table: string): string => `SELECT '${table}' AS row
  WHERE coalesce(pg_sequence_last_value(pg_get_serial_sequence('${table}', 'number')::regclass), 0)
    < (SELECT max(number) FROM ${table})`;

/** The rules that hold between rows. Each statement finds the rows that break its rule. */
export const INVARIANTS: Record<string, string> = {
  'the epoch, the origin and the store id have 12 hex digits': `SELECT key AS row FROM meta
    WHERE key IN ('epoch', 'origin', 'store') AND value !~ '^[0-9a-f]{12}$'`,
  'numbers and times are within their ranges': Object.keys(RANGES).map(outOfRange).join(' UNION ALL '),
  'the counters and the log match the rows': `SELECT DISTINCT queue || ' ' || state AS row FROM (
      (${COUNTED_ROWS} EXCEPT ${CURRENT_COUNTS}) UNION ALL (${CURRENT_COUNTS} EXCEPT ${COUNTED_ROWS})) AS difference`,
  'every running job has an attempt that has not ended': `SELECT id AS row FROM job WHERE phase = 'running'
    AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.number = job.attempt AND attempt.job = job.number
      AND attempt.token = job.token AND finished_at IS NULL)`,
  'every attempt that has not ended belongs to a running job': `SELECT number AS row FROM attempt WHERE finished_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM job WHERE job.number = attempt.job AND phase = 'running' AND job.attempt = attempt.number)`,
  'no attempt number is higher than the run count of its job': `SELECT attempt.number AS row
    FROM attempt JOIN job ON job.number = attempt.job WHERE ordinal > runs`,
  'the bytes of shared output are counted': `SELECT number AS row FROM attempt WHERE shared_bytes <>
    (SELECT coalesce(sum(octet_length(bytes)), 0) FROM output_part WHERE output_part.attempt = attempt.number)`,
  'every job has the correct number of open dependencies': `SELECT id AS row FROM job WHERE blockers <>
    (SELECT count(*) FROM dependency WHERE child = job.number AND dependency.phase = 'open')
    OR (phase = 'blocked' AND blockers = 0) OR (phase IN ('ready', 'waiting', 'running') AND blockers > 0)`,
  'no job waits for a job that has ended or is gone': `SELECT child AS row FROM dependency WHERE phase = 'open'
    AND NOT EXISTS (SELECT 1 FROM job WHERE job.number = parent AND job.phase <> 'ended')`,
  'every job that others wait for is marked': `SELECT id AS row FROM job WHERE waited_for = 0
    AND EXISTS (SELECT 1 FROM dependency WHERE parent = job.number AND dependency.phase = 'open')`,
  'the number of waiting ticks is correct': `SELECT name AS row FROM schedule WHERE waiting <>
    (SELECT count(*) FROM tick WHERE tick.schedule = schedule.number AND tick.phase = 'waiting')`,
  'no number is used twice': `${['queue', 'job', 'attempt', 'schedule', 'rollup_kind'].map(sequenceBehind).join(' UNION ALL ')}
    UNION ALL SELECT 'event' FROM event_number WHERE last < (SELECT max(number) FROM event)`,
};

/** Reads what has to be parsed: the columns with JSON or packed counts. `row` names the row. */
export const jsonOfJobs = `SELECT id AS row, argv, depends_on, tags, hooks, policy, start, env FROM job
  WHERE num_nonnulls(argv, depends_on, tags, hooks, policy, start, env) > 0`;
export const jsonOfSchedules = 'SELECT name AS row, job FROM schedule';
export const histograms = `SELECT tier || ' ' || at || ' ' || kind AS row, wait, wait_least, wait_most, run, run_least, run_most
  FROM rollup`;

/** Reads the names of the tables and indexes that can be used. */
export const relations = `SELECT relname AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    LEFT JOIN pg_index ON indexrelid = pg_class.oid
  WHERE nspname = current_schema() AND coalesce(indisvalid AND indisready, true)`;
