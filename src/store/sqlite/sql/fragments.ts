/**
 * This folder has the statements of SQLite alone. The others are in parts/. SQLite uses a partial index only if the statement
 * repeats its predicate literally, so `phase = 'ready'` is never a parameter.
 */

import { JOB } from '../../rows.ts';

export const FROM_JOB = 'FROM job CROSS JOIN queue ON queue.number = job.queue';
export const selectClaimed = (): string =>
  `SELECT ${JOB}, (SELECT end_reason FROM attempt WHERE attempt.number = job.attempt) AS end_reason ${FROM_JOB}`;

export const CLOCK = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/** Selects the rows of the index `job_set_aside`. */
export const SET_ASIDE = "phase IN ('waiting', 'held', 'blocked')";

export const AT_MOST_ONCE = "coalesce(policy ->> 'atMostOnce', 0)";

/** Matches queues with a running job or, unless they are paused, a job that is ready, due by ?1 or to be retried. */
export const IS_BUSY = `(EXISTS (SELECT 1 FROM job WHERE phase = 'running' AND job.queue = queue.number)
  OR (paused_at IS NULL AND (EXISTS (SELECT 1 FROM job WHERE phase = 'ready' AND job.queue = queue.number)
    OR EXISTS (SELECT 1 FROM job WHERE phase = 'waiting' AND job.queue = queue.number AND due_at <= ?1)
    OR EXISTS (SELECT 1 FROM job WHERE ${SET_ASIDE} AND phase = 'waiting' AND job.queue = queue.number AND state = 'failed'))))`;
