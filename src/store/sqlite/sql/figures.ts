import { ATTEMPT_OUTCOMES } from '../../../core/rules/figures.ts';
import { JOB } from '../../rows.ts';
import { FROM_JOB } from './fragments.ts';

const FIGURES = `enqueued, dropped, completed, failed, dead, cancelled, released, lost, oldest_ms,
  wait_ms, wait_least, wait_most, wait, run_ms, run_least, run_most, run`;

export const packedTimes = 'SELECT wait, run FROM rollup WHERE tier = ? AND at = ? AND kind = ?';
/** Counts attempts: their numbers by outcome, and their times. If no time counts, its minimum, maximum and packed counts are null. */
export const countAttempts = `UPDATE rollup SET ${ATTEMPT_OUTCOMES.map((name, i) => `${name} = ${name} + ?${i + 1}`).join(', ')},
  ${withTimes('wait', 7)}, ${withTimes('run', 11)} WHERE tier = ?15 AND at = ?16 AND kind = ?17`;
/** Does the same if there is no row yet. It has the same parameters. */
export const countFirstAttempts = `INSERT INTO rollup (${ATTEMPT_OUTCOMES.join(', ')},
  wait_ms, wait_least, wait_most, wait, run_ms, run_least, run_most, run, tier, at, kind)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** The four parameters from `first` on are the sum of the times, their minimum, their maximum, and the new packed counts. */
function withTimes(histogram: string, first: number): string {
  const [least, most, packed] = [`?${first + 1}`, `?${first + 2}`, `?${first + 3}`];
  return `${histogram}_ms = ${histogram}_ms + ?${first},
  ${histogram}_least = min(coalesce(${histogram}_least, ${least}), coalesce(${least}, ${histogram}_least)),
  ${histogram}_most = max(coalesce(${histogram}_most, ${most}), coalesce(${most}, ${histogram}_most)),
  ${histogram} = coalesce(${packed}, ${histogram})`;
}

/** Adds the kinds without a job name of these queues. The parameter is a JSON object with the numbers of queues as keys. */
export const addQueueKinds = `INSERT INTO rollup_kind (name, queue) SELECT '', queue.number FROM json_each(?)
  CROSS JOIN queue ON queue.number = json_each.key WHERE true ON CONFLICT DO NOTHING`;
/** Records how long the oldest jobs of queues have been waiting. The values of the JSON object are the times. */
export const countWaiting = `INSERT INTO rollup (tier, at, kind, oldest_ms) SELECT ?, ?, rollup_kind.number, json_each.value
  FROM json_each(?) CROSS JOIN rollup_kind ON rollup_kind.name = '' AND rollup_kind.queue = json_each.key WHERE true
  ON CONFLICT DO UPDATE SET oldest_ms = max(oldest_ms, excluded.oldest_ms)`;

/** Reads a range of one tier by the primary key, so that only the rows of the range are read. */
export const rollups = `SELECT at, kind, ${FIGURES} FROM rollup WHERE tier = ? AND at >= ? AND at < ?`;
export const kinds = `SELECT rollup_kind.number, rollup_kind.name, queue.name AS queue FROM rollup_kind
  CROSS JOIN queue ON queue.number = rollup_kind.queue`;
/**
 * Finds, for each queue, since when its oldest due job has been waiting. Jobs that were due when they were enqueued
 * (`fresh`) are in order, so the first one of each priority is the oldest. Jobs that became due later (`late`) have an index
 * of their own, which costs new jobs nothing. Jobs that are due but not yet ready are `due`.
 */
export const oldestWaiting = `WITH RECURSIVE level (queue, priority) AS (
  SELECT number, (SELECT max(priority) FROM job WHERE phase = 'ready' AND job.queue = queue.number) FROM queue
  UNION ALL
  SELECT queue, (SELECT max(priority) FROM job WHERE phase = 'ready' AND job.queue = level.queue AND job.priority < level.priority)
  FROM level WHERE level.priority IS NOT NULL)
  SELECT queue.number, name,
  min((SELECT created_at FROM job WHERE phase = 'ready' AND job.queue = level.queue AND job.priority = level.priority
    AND due_at <= created_at ORDER BY job.number LIMIT 1)) AS fresh,
  (SELECT min(due_at) FROM job WHERE phase = 'ready' AND due_at > created_at AND job.queue = queue.number) AS late,
  (SELECT min(due_at) FROM job WHERE phase = 'waiting' AND job.queue = queue.number) AS due
  FROM level CROSS JOIN queue ON queue.number = level.queue
  GROUP BY queue.number ORDER BY name`;
export const anyOldRollup = 'SELECT 1 FROM rollup WHERE tier = ? AND at < ? LIMIT 1';
export const deleteOldRollups = `DELETE FROM rollup WHERE (tier, at, kind) IN
  (SELECT tier, at, kind FROM rollup WHERE tier = ? AND at < ? LIMIT ?)`;

/** Reads the newest attempts. A time is null where the figures do not count it either. */
export const finishedAttempts = `SELECT iif(ordinal = 1, wait_ms, NULL) AS waitMs,
  iif(why IN ('exited', 'timeout', 'spawn-error'), coalesce(duration_ms, finished_at - started_at), NULL) AS runMs,
  finished_at AS finishedAt, why = 'exited' AND exit_code = 0 AS ok FROM attempt WHERE finished_at IS NOT NULL ORDER BY number DESC LIMIT ?`;
export const lastEnded = `SELECT ${JOB} ${FROM_JOB}
  WHERE phase = 'ended' AND state = ? ORDER BY finished_at DESC, job.number DESC LIMIT ?`;
