import { jobRemoval } from '../change-jobs.ts';
import { CURRENT_COUNTS } from './fold.ts';

/**
 * Reads the oldest jobs that ended in a state, and in the same moment the totals of the state. Jobs that ended before $2 and up
 * to the number $3 in that millisecond are left out.
 */
export const endedJobs = (limit: number): string => `WITH total AS MATERIALIZED (
    SELECT coalesce(sum(jobs), 0) AS jobs, coalesce(sum(bytes), 0) AS bytes FROM (${CURRENT_COUNTS}) AS current WHERE state = $1)
  SELECT number, finished_at AS "finishedAt", job.bytes, runs + coalesce(json_array_length(depends_on::json), 0) AS "ownedRows",
    coalesce((start::json ->> 'stdinBytes')::bigint, 0) AS "stdinBytes", total.jobs AS "allJobs", total.bytes AS "allBytes"
  FROM job CROSS JOIN total
  WHERE phase = 'ended' AND state = $1 AND (finished_at, number) > ($2, $3) ORDER BY finished_at, number LIMIT ${limit}`;
/** Finds the attempts of jobs whose output is in a file. */
export const attemptsWithFile = `SELECT job, number FROM attempt WHERE job = ANY($1) AND output_bytes > 0
  AND NOT EXISTS (SELECT 1 FROM output WHERE output.attempt = attempt.number)`;
/** Removes jobs, except those that were retried since they were chosen. $7 is the last end of a chosen job. */
export const removeEnded = jobRemoval("number = ANY($6) AND phase = 'ended' AND finished_at <= $7");
export const anyOldKey = 'SELECT 1 FROM idempotency WHERE used_at <= $1 LIMIT 1';
/** Few keys are removed at once, because one key may hold the ids of very many jobs. */
export const deleteOldKeys = `DELETE FROM idempotency WHERE used_at <= $1 AND key = ANY(ARRAY(
  SELECT key FROM idempotency WHERE used_at <= $1 ORDER BY used_at LIMIT 50))`;
