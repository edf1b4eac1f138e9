import { UNIQUE_SLOT_OF_ENDED } from '../../parts/jobs.ts';
import { isOneOf } from './fragments.ts';

/** The columns of a settlement, which is an object of a JSON array. `if_cancelled` is described in settle.ts. */
const GIVEN = `SELECT * FROM json_to_recordset($1) AS one (ordinal bigint, if_cancelled boolean, job bigint, token bigint, attempt bigint,
  state text, phase text, attempts bigint, crashes bigint, due_at bigint, ended_at bigint, at bigint, exit_code bigint,
  error text, duration_ms bigint, remaining_bytes bigint, output_bytes bigint, truncated bigint, left_behind text, why text,
  kind text, detail text, figure text, counts_run_time boolean)`;

/**
 * Settles attempts of different jobs. Locks each job and its attempt, so that a cancel is seen even if it is committed at the
 * same moment, and chooses the settlement after that. $2 to $4 are the outputs to keep. $5 and $6 are the time and the actor of
 * the events. Shared output counts, because it is the only output of an attempt whose host is lost.
 * `worker_id IS NOT NULL` means that the job is running, and does not make PostgreSQL read all running jobs.
 */
export const settleJobs = `WITH given AS MATERIALIZED (${GIVEN}),
  locked AS MATERIALIZED (
    SELECT one.*, coalesce(end_reason = 'cancelled', false) AS is_cancelled, attempt.ordinal AS run, attempt.started_at,
      attempt.worker_id, least(wait_ms, greatest(0, attempt.started_at - created_at)) AS wait_ms,
      greatest(one.remaining_bytes, shared_bytes) AS counted_bytes, shared_bytes, shared_end,
      greatest(attempt.started_at, one.at) AS attempt_ended_at
    FROM given AS one JOIN job ON job.number = one.job JOIN attempt ON attempt.number = one.attempt
    WHERE job.token = one.token AND job.attempt = one.attempt AND job.worker_id IS NOT NULL
      AND ${isOneOf('job.number', 'job', 'given')} AND ${isOneOf('attempt.number', 'attempt', 'given')}
    ORDER BY job.number FOR NO KEY UPDATE OF job, attempt),
  chosen AS MATERIALIZED (SELECT * FROM locked WHERE if_cancelled IS NULL OR if_cancelled = is_cancelled),
  settled AS (UPDATE job SET state = chosen.state, phase = chosen.phase, attempts = chosen.attempts, crashes = chosen.crashes,
      due_at = chosen.due_at, finished_at = ended_at, updated_at = chosen.at, exit_code = chosen.exit_code, last_error = chosen.error,
      duration_ms = coalesce(chosen.duration_ms, greatest(0, chosen.at - job.started_at)), worker_id = NULL,
      bytes = bytes + counted_bytes,
      unique_slot = CASE WHEN chosen.phase = 'ended' THEN ${UNIQUE_SLOT_OF_ENDED} ELSE unique_slot END
    FROM chosen WHERE job.number = chosen.job AND ${isOneOf('job.number', 'job', 'chosen')}
    RETURNING ordinal, if_cancelled, chosen.attempt, number, id, queue, coalesce(name, '') AS name, bytes, job.state, job.phase,
      waited_for, counted_bytes, shared_bytes, figure, kind, detail, chosen.worker_id, run, attempt_ended_at, wait_ms,
      CASE WHEN counts_run_time THEN coalesce(chosen.duration_ms, attempt_ended_at - chosen.started_at) END AS run_ms),
  ended AS (UPDATE attempt SET finished_at = attempt_ended_at, why = chosen.why, exit_code = chosen.exit_code,
      error = chosen.error, output_bytes = greatest(chosen.output_bytes, chosen.shared_end), truncated = chosen.truncated,
      left_behind = chosen.left_behind, duration_ms = chosen.duration_ms, job_before = NULL,
      shared_bytes = CASE WHEN chosen.attempt = ANY($2) THEN 0 ELSE chosen.shared_bytes END
    FROM chosen WHERE attempt.number = chosen.attempt AND ${isOneOf('attempt.number', 'attempt', 'chosen')}),
  kept AS (INSERT INTO output (attempt, bytes, stderr)
    SELECT kept.* FROM unnest($2::bigint[], $3::bytea[], $4::bytea[]) AS kept (attempt, bytes, stderr)
    JOIN settled ON settled.attempt = kept.attempt),
  logged AS (INSERT INTO log (at, actor, kind, detail, id, queue, attempt, old_queue, old_state, old_bytes, new_queue, new_state,
      new_bytes, figure, figure_at, name, wait_ms, run_ms)
    SELECT $5, coalesce($6, worker_id), kind, detail, id, queue, run, queue, 'processing', bytes - counted_bytes, queue, state,
      bytes, figure, attempt_ended_at, name, CASE WHEN run = 1 THEN wait_ms END, run_ms
    FROM settled ORDER BY ordinal)
  SELECT ordinal, if_cancelled, settled.number, id, state, phase, waited_for, queue.name AS queue,
    queue.concurrency IS NOT NULL AS is_limited, settled.attempt, shared_bytes > 0 AND settled.attempt = ANY($2) AS has_spare_parts
  FROM settled JOIN queue ON queue.number = settled.queue`;
/** Removes shared parts of output that is kept. This is a statement of its own, because it must see parts that were awaited. */
export const deleteParts = 'DELETE FROM output_part WHERE attempt = ANY($1)';
