import { FROM_JOB, JOB, SET_ASIDE } from './fragments.ts';

export const queuesOfState = 'SELECT queue FROM counter WHERE state = ? AND jobs > 0';
/** Finds the jobs of a queue that are due and not ready yet, in the order of their due times. */
const DUE_NUMBERS = "SELECT number FROM job WHERE phase = 'waiting' AND queue = ? AND due_at <= ?";
export const countDue = `SELECT count(*) AS jobs FROM (${DUE_NUMBERS} LIMIT ?)`;
/** Reads a page of jobs by one index. `extra` holds further conditions, which contain no text of users. */
export const list = {
  all: (extra: string) =>
    `SELECT ${JOB} ${FROM_JOB} WHERE job.number < ?${extra} ORDER BY job.number DESC LIMIT ?`,
  byQueueAndState: (extra: string) => `SELECT ${JOB} ${FROM_JOB}
    WHERE job.queue = ? AND state = ? AND job.number < ?${extra} ORDER BY job.number DESC LIMIT ?`,
  bySetAside: (
    extra: string,
  ) => `SELECT ${JOB} FROM job INDEXED BY job_set_aside CROSS JOIN queue ON queue.number = job.queue
    WHERE ${SET_ASIDE} AND phase = ? AND job.queue = ? AND state = ? AND job.number < ?${extra} ORDER BY job.number DESC LIMIT ?`,
  byReady: (
    extra: string,
  ) => `SELECT ${JOB} FROM job INDEXED BY job_ready CROSS JOIN queue ON queue.number = job.queue
    WHERE phase = 'ready' AND job.queue = ? AND job.priority = ? AND job.number < ?${extra} ORDER BY job.number DESC LIMIT ?`,
  byDue: (extra: string) => `SELECT ${JOB} ${FROM_JOB}
    WHERE job.number IN (${DUE_NUMBERS}) AND job.number < ?${extra} ORDER BY job.number DESC LIMIT ?`,
  byName: (extra: string) => `SELECT ${JOB} ${FROM_JOB}
    WHERE job.name = ? AND job.number < ?${extra} ORDER BY job.number DESC LIMIT ?`,
};
/** Finds the number of the last job of a scan that starts below a given number. */
export const scanEnd = {
  byQueueAndState:
    'SELECT number FROM job WHERE queue = ? AND state = ? AND number < ? ORDER BY number DESC LIMIT 1 OFFSET ?',
  bySetAside: `SELECT number FROM job INDEXED BY job_set_aside
    WHERE ${SET_ASIDE} AND phase = ? AND queue = ? AND state = ? AND number < ? ORDER BY number DESC LIMIT 1 OFFSET ?`,
  byReady: `SELECT number FROM job INDEXED BY job_ready
    WHERE phase = 'ready' AND queue = ? AND priority = ? AND number < ? ORDER BY number DESC LIMIT 1 OFFSET ?`,
  byDue: `${DUE_NUMBERS} AND number < ? ORDER BY number DESC LIMIT 1 OFFSET ?`,
  byName: 'SELECT number FROM job WHERE name = ? AND number < ? ORDER BY number DESC LIMIT 1 OFFSET ?',
};
export const newestJobNumber = 'SELECT max(number) AS number FROM job';
const countSql = (where: string, index = ''): string =>
  `SELECT count(*) AS jobs FROM (SELECT 1 FROM job${index} WHERE ${where} LIMIT ?)`;
/** Counts jobs up to a limit. `extra` is the same as in `list`. */
export const countJobs = {
  all: (extra: string) => countSql(`job.number < ?${extra}`),
  byName: (extra: string) => countSql(`job.name = ? AND job.number < ?${extra}`),
  byQueueAndState: (extra: string) => countSql(`job.queue = ? AND state = ? AND job.number < ?${extra}`),
  bySetAside: (extra: string) =>
    countSql(
      `${SET_ASIDE} AND phase = ? AND job.queue = ? AND state = ? AND job.number < ?${extra}`,
      ' INDEXED BY job_set_aside',
    ),
  byReady: (extra: string) =>
    countSql(
      `phase = 'ready' AND job.queue = ? AND job.priority = ? AND job.number < ?${extra}`,
      ' INDEXED BY job_ready',
    ),
  byDue: (extra: string) => countSql(`job.number IN (${DUE_NUMBERS}) AND job.number < ?${extra}`),
};
export const attemptsOfJob = `SELECT number, ordinal, worker_id AS workerId, started_at AS startedAt, finished_at AS finishedAt,
  coalesce(duration_ms, finished_at - started_at) AS durationMs, why, exit_code AS exitCode, error,
  output_bytes AS outputBytes, truncated, left_behind AS leftBehind
  FROM attempt WHERE job = (SELECT number FROM job WHERE id = ?) ORDER BY ordinal`;
/**
 * Finds the jobs that were cancelled because of this one, directly or through others, and are still cancelled. ?2 is 1 to omit
 * those that an earlier end of this job has cancelled. A job and the jobs cancelled with it have the same `finished_at`.
 */
export const cancelledDueTo = `WITH RECURSIVE lost (number, at) AS (
    SELECT number, finished_at FROM job WHERE id = ?1
    UNION SELECT child, at FROM lost JOIN dependency ON dependency.parent = lost.number AND dependency.phase = 'failed'
      JOIN job ON job.number = child AND state = 'cancelled' AND (finished_at = at OR NOT ?2))
  SELECT id FROM lost JOIN job USING (number) WHERE id <> ?1 ORDER BY number`;
export const jobSummary = 'SELECT number, phase FROM job WHERE id = ?';
/** Finds the children that would be cancelled with this job. */
export const cancelledChildren = `SELECT job.number, job.id FROM dependency CROSS JOIN job ON job.number = child
    AND job.phase IN ('blocked', 'held') AND coalesce(policy ->> 'onParentFailure', 'cancel') = 'cancel'
  WHERE parent = ? AND dependency.phase = 'open' AND wants NOT IN (SELECT value FROM json_each(?))`;
