import { JOB } from '../../rows.ts';
import { FROM_JOB } from './fragments.ts';

const FIGURES = `enqueued, dropped, completed, failed, dead, cancelled, released, lost, oldest_ms,
  wait_ms, wait_least, wait_most, wait, run_ms, run_least, run_most, run`;

/** Reads a range of one tier by the primary key, so that only the rows of the range are read. $4 is null for all kinds. */
export const rollups = `SELECT at, kind, ${FIGURES} FROM rollup
  WHERE tier = $1 AND at >= $2 AND at < $3 AND ($4::bigint[] IS NULL OR kind = ANY($4)) ORDER BY tier, at, kind`;
export const kinds = `SELECT rollup_kind.number, rollup_kind.name, queue.name AS queue FROM rollup_kind
  JOIN queue ON queue.number = rollup_kind.queue`;
/** Each parameter has one element for each row. */
export const countWaiting = `INSERT INTO rollup (tier, at, kind, oldest_ms)
  SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
  ON CONFLICT (tier, at, kind) DO UPDATE SET oldest_ms = greatest(rollup.oldest_ms, excluded.oldest_ms)`;
const highestPriority = (queue: string, below = ''): string =>
  `(SELECT priority FROM job WHERE phase = 'ready' AND job.queue = ${queue}${below} ORDER BY priority DESC LIMIT 1)`;
/**
 * Finds, for each queue, since when its oldest due job has been waiting. Jobs that were due when they were enqueued
 * (`fresh`) are in order, so the first one of each priority is the oldest. Jobs that became due later (`late`) have an index
 * of their own, which costs new jobs nothing. Jobs that are due but not yet ready are `due`.
 */
export const oldestWaiting = `WITH RECURSIVE level (queue, priority) AS (
    SELECT number, ${highestPriority('queue.number')} FROM queue
    UNION ALL
    SELECT queue, ${highestPriority('level.queue', ' AND priority < level.priority')} FROM level WHERE priority IS NOT NULL),
  fresh (queue, at) AS (SELECT level.queue, min(first.created_at) FROM level CROSS JOIN LATERAL (
      SELECT created_at FROM job WHERE phase = 'ready' AND job.queue = ANY(ARRAY[level.queue]) AND job.priority = level.priority
      AND due_at <= created_at ORDER BY job.queue, job.priority DESC, number LIMIT 1) AS first GROUP BY level.queue)
  SELECT number, name, fresh.at AS fresh,
    (SELECT min(due_at) FROM job WHERE phase = 'ready' AND due_at > created_at AND job.queue = queue.number) AS late,
    (SELECT min(due_at) FROM job WHERE phase = 'waiting' AND job.queue = queue.number) AS due
  FROM queue LEFT JOIN fresh ON fresh.queue = queue.number ORDER BY name`;
/** Finds a tier with figures before its end. */
export const oldRollups = `SELECT tier, "end" FROM unnest($1::int[], $2::bigint[]) AS given (tier, "end")
  WHERE EXISTS (SELECT 1 FROM rollup WHERE rollup.tier = given.tier AND at < given."end") LIMIT 1`;
export const deleteOldRollups = `DELETE FROM rollup WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM rollup WHERE tier = $1 AND at < $2 ORDER BY tier, at LIMIT 300))`;

/** Reads the newest attempts. A time is null where the figures do not count it either. */
export const finishedAttempts = `SELECT CASE WHEN ordinal = 1 THEN wait_ms END AS "waitMs",
  CASE WHEN why IN ('exited', 'timeout', 'spawn-error') THEN coalesce(duration_ms, finished_at - started_at) END AS "runMs",
  finished_at AS "finishedAt", why = 'exited' AND exit_code = 0 AS ok
  FROM attempt WHERE finished_at IS NOT NULL ORDER BY number DESC LIMIT $1`;
export const lastEnded = `SELECT ${JOB} ${FROM_JOB}
  WHERE phase = 'ended' AND state = $1 ORDER BY finished_at DESC, job.number DESC LIMIT $2`;
