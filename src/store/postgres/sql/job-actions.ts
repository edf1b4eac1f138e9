import { jobChange, jobRemoval } from '../change-jobs.ts';
import { SLOT_OF_ENDED } from './fragments.ts';

/**
 * Locks jobs, so that the statements after it all find them in the same state. Returns them as they are now. Subqueries of one
 * statement would not see what a transaction has committed for which that statement had to wait.
 */
export const lockJobs = 'SELECT id, phase FROM job WHERE id = ANY($1) ORDER BY number FOR NO KEY UPDATE';

/** Reads the unique keys that jobs take again when they are retried. A key with a time limit is not taken again. */
export const keysOfJobs = `SELECT id, unique_key AS key FROM job
  WHERE id = ANY($1) AND unique_key IS NOT NULL AND unique_until IS NULL`;
/** Frees unique keys whose time limit is over. */
export const freeExpiredSlots =
  'UPDATE job SET unique_slot = NULL WHERE unique_slot = ANY($1) AND unique_until <= $2';
/** Matches the other job that has the unique key. */
const HAS_KEY =
  'job.unique_until IS NULL AND other.unique_slot = job.unique_key AND other.number <> job.number';
const AT_MOST_ONCE = "coalesce(policy::json ->> 'atMostOnce' = 'true', false)";
export const retryJobs = jobChange({
  where: `id = ANY($6) AND phase <> 'running' AND state = ANY($7)
    AND NOT ($8::bigint = 1 AND started_at IS NOT NULL AND ${AT_MOST_ONCE})
    AND NOT EXISTS (SELECT 1 FROM job AS other WHERE ${HAS_KEY})`,
  set: `state = 'pending', phase = CASE WHEN phase = 'held' THEN 'held' WHEN blockers > 0 THEN 'blocked' ELSE 'ready' END,
    attempts = 0, crashes = 0, due_at = $5, updated_at = $5, finished_at = NULL, exit_code = NULL, last_error = NULL,
    duration_ms = NULL, unique_slot = CASE WHEN unique_until IS NULL THEN unique_key ELSE unique_slot END`,
});
export const keyHolder = `SELECT other.id FROM job JOIN job AS other ON ${HAS_KEY}
  WHERE job.id = $1 AND job.state = ANY($2) AND coalesce(other.unique_until > $3, true)`;

const isRemovable = (ids: string, states: string): string =>
  `id = ANY(${ids}) AND phase <> 'running' AND state = ANY(${states})`;
export const attemptsOfRemovable = `SELECT attempt.number FROM job JOIN attempt ON attempt.job = job.number
  WHERE ${isRemovable('$1', '$2')} ORDER BY attempt.number`;
export const removeJobs = jobRemoval(isRemovable('$6', '$7'));

/** Cancels jobs that are not running. A unique key without a time limit is free again. */
export const cancelJobs = jobChange({
  where: "id = ANY($6) AND phase NOT IN ('running', 'ended')",
  set: `state = 'cancelled', phase = 'ended', due_at = NULL, finished_at = $5, updated_at = $5, last_error = $7,
    unique_slot = ${SLOT_OF_ENDED}`,
  isDrop: true,
});
const RUNNING_ATTEMPT =
  "job.phase = 'running' AND attempt.number = job.attempt AND attempt.finished_at IS NULL";
/**
 * Requests the end of running jobs, and logs that unless it was requested before. $6 is the first signal. A signal that was wished
 * before the cancel is not its first signal.
 */
export const cancelAttempts = `WITH before AS MATERIALIZED (
    SELECT attempt.number, ordinal, attempt.worker_id, end_reason, job.id, job.queue FROM job, attempt
    WHERE job.id = ANY($5) AND ${RUNNING_ATTEMPT} ORDER BY job.number FOR NO KEY UPDATE OF attempt),
  changed AS (UPDATE attempt SET end_reason = 'cancelled',
      signal = coalesce($6, CASE WHEN attempt.end_reason = 'cancelled' THEN signal END)
    FROM before WHERE attempt.number = before.number)
  INSERT INTO log (at, kind, actor, detail, id, queue, attempt)
  SELECT $1, $2, coalesce($3, worker_id), $4, id, queue, ordinal FROM before
  WHERE end_reason IS DISTINCT FROM 'cancelled' ORDER BY number`;
export const wishSignal = `UPDATE attempt SET signal = $1 FROM job
  WHERE job.id = ANY($2) AND ${RUNNING_ATTEMPT} AND end_reason IS NULL RETURNING job.id`;

export const holdJobs = jobChange({
  where: "id = ANY($6) AND phase IN ('ready', 'waiting', 'blocked')",
  set: "phase = 'held', updated_at = $5",
});
/** Releases jobs. Their wait begins now at the earliest, because the time on hold does not count. */
export const releaseJobs = jobChange({
  where: "id = ANY($6) AND phase = 'held'",
  set: `due_at = greatest(due_at, $5), updated_at = $5,
    phase = CASE WHEN blockers > 0 THEN 'blocked' WHEN due_at > $5 THEN 'waiting' ELSE 'ready' END,
    last_error = CASE WHEN state = 'pending' THEN NULL ELSE last_error END`,
});

interface Edit {
  /** The columns that change. $7 is the value of the first one. */
  columns: string[];
  /** Tells whether the value after those of the columns is the time at which the jobs become due. */
  setsDue: boolean;
  /** Leaves out at-most-once jobs. */
  exceptAtMostOnce: boolean;
}

/** Returns a statement that changes some columns of jobs. */
export function editJobs({ columns, setsDue, exceptAtMostOnce }: Edit): string {
  const set = ['updated_at = $5', ...columns.map((column, i) => `${column} = $${i + 7}`)];
  const due = `$${columns.length + 7}::bigint`;
  if (setsDue)
    set.push(
      `due_at = ${due}`,
      `phase = CASE WHEN phase IN ('held', 'blocked') THEN phase WHEN ${due} > $5 THEN 'waiting' ELSE 'ready' END`,
    );
  // A new command also replaces `argv`.
  if (columns.includes('command')) set.push('argv = NULL');
  const where = "id = ANY($6) AND phase NOT IN ('running', 'ended')";
  return jobChange({
    where: exceptAtMostOnce ? `${where} AND NOT ${AT_MOST_ONCE}` : where,
    set: set.join(', '),
  });
}
