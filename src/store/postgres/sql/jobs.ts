import { FIELD_COLUMNS, PLAIN_COLUMNS } from '../../job-columns.ts';
import { HAS_FILE } from '../../parts/jobs.ts';
import { CURRENT_COUNTS } from './fold.ts';
import { DIRECTORY_OF_HOST, isElsewhere, otherHost } from './fragments.ts';

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
const ALL_COLUMNS = [...FIELD_COLUMNS.split(','), 'blockers', 'phase', 'created_at', 'updated_at', 'due_at'];
export const insertJobs = insertSql(ALL_COLUMNS, { state: "'pending'" });
export const insertPlainJobs = insertSql([...PLAIN_COLUMNS, 'created_at', 'updated_at', 'due_at'], {
  state: "'pending'",
  phase: "'ready'",
});
export const insertUniqueJob = insertSql(
  [...ALL_COLUMNS, 'unique_key', 'unique_while', 'unique_until', 'unique_slot'],
  { state: "'pending'" },
);
/** Counts the jobs that are held, blocked or not yet due. `later` includes the retries. Reads an index of such jobs. */
export const setAsideCounts = `SELECT name, coalesce(held, 0) AS held, coalesce(blocked, 0) AS blocked,
    coalesce(retrying, 0) AS retrying, coalesce(later, 0) AS later
  FROM queue LEFT JOIN (SELECT queue, count(*) FILTER (WHERE phase = 'held') AS held,
      count(*) FILTER (WHERE phase = 'blocked') AS blocked,
      count(*) FILTER (WHERE phase = 'waiting' AND due_at > $1 AND state = 'failed') AS retrying,
      count(*) FILTER (WHERE phase = 'waiting' AND due_at > $1) AS later
    FROM job WHERE phase IN ('waiting', 'held', 'blocked') GROUP BY queue) AS set_aside ON set_aside.queue = queue.number
  WHERE number IN (SELECT queue FROM (${CURRENT_COUNTS}) AS current WHERE state IN ('pending', 'failed')) ORDER BY number`;
export const attemptsOfJob = `SELECT number, ordinal, worker_id AS "workerId", started_at AS "startedAt", finished_at AS "finishedAt",
  coalesce(duration_ms, finished_at - started_at) AS "durationMs", why, exit_code AS "exitCode", error,
  CASE WHEN finished_at IS NULL THEN shared_end ELSE output_bytes END AS "outputBytes", truncated, left_behind AS "leftBehind",
  ${otherHost('$2', '$3')} AS "otherHost", CASE WHEN ${isElsewhere('$2', '$3')} AND ${HAS_FILE}
    THEN ${DIRECTORY_OF_HOST} END AS "otherDirectory"
  FROM attempt WHERE job = (SELECT number FROM job WHERE id = $1) ORDER BY ordinal`;
