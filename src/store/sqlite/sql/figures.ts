import { FROM_JOB, JOB } from './fragments.ts';

/** The columns of a rollup that count something. Its buckets are those of core/histogram.ts. */
const COUNTED = ['enqueued', 'dropped', 'completed', 'failed', 'dead', 'cancelled', 'released', 'lost'];
const buckets = (letter: string): string[] => Array.from({ length: 19 }, (_, i) => `${letter}${i}`);
const FIGURES = [...COUNTED, 'wait_ms', 'run_ms', ...buckets('w'), ...buckets('r')].map(
  (name) => `rollup.${name}`,
);
const SUMS = FIGURES.map((column) => `sum(${column}) AS ${column.slice(7)}`).join(', ');

export const kindOf = 'SELECT number FROM rollup_kind WHERE name = ? AND queue = ?';
export const labelsOfJob = "SELECT queue, coalesce(name, '') AS name FROM job WHERE number = ?";
export const nameExists = 'SELECT 1 FROM rollup_kind WHERE name = ? LIMIT 1';
export const countKinds =
  "SELECT count(*) AS pairs, count(DISTINCT name) AS names FROM rollup_kind WHERE name <> ''";
export const insertKind = 'INSERT INTO rollup_kind (name, queue) VALUES (?, ?)';
export const openRollup = 'INSERT INTO rollup (tier, at, kind) VALUES (?, ?, ?)';
export const rollupJobs =
  'UPDATE rollup SET enqueued = enqueued + ?, dropped = dropped + ? WHERE tier = ? AND at = ? AND kind = ?';
/** Updates only the columns that change, because updating all of them would cost twice as much. */
export const countAttempt = (
  columns: string[],
): string => `UPDATE rollup SET wait_ms = wait_ms + ?, run_ms = run_ms + ?,
  ${columns.map((column) => `${column} = ${column} + 1`).join(', ')} WHERE tier = ? AND at = ? AND kind = ?`;

/** Selects a range of one tier by the primary key, so that only the rows of the range are read. */
const OF_RANGE = 'FROM rollup WHERE tier = ? AND at >= ? AND at < ?';
const OF_KINDS = 'AND +kind IN (SELECT value FROM json_each(?))';
export const series = `SELECT at, ${SUMS} ${OF_RANGE} GROUP BY at`;
export const seriesOfKinds = `SELECT at, ${SUMS} ${OF_RANGE} ${OF_KINDS} GROUP BY at`;
export const breakdown = `SELECT kind, ${SUMS} ${OF_RANGE} ${OF_KINDS} GROUP BY kind`;
export const totals = `SELECT kind, ${FIGURES.join(', ')} FROM rollup WHERE tier = 0 AND at = 0`;
export const kinds = `SELECT rollup_kind.number, rollup_kind.name, queue.name AS queue FROM rollup_kind
  CROSS JOIN queue ON queue.number = rollup_kind.queue`;
/**
 * Finds, for each queue, since when its oldest runnable job has been waiting. Jobs that were due when they were enqueued
 * (`fresh`) are in order, so the first one of each priority is the oldest. Jobs that became due later (`late`) have an index
 * of their own, which costs new jobs nothing. Jobs that are due but not yet ready are `due`.
 */
export const oldestWaiting = `WITH RECURSIVE line (queue, priority) AS (
  SELECT number, (SELECT max(priority) FROM job WHERE phase = 'ready' AND job.queue = queue.number) FROM queue
  UNION ALL
  SELECT queue, (SELECT max(priority) FROM job WHERE phase = 'ready' AND job.queue = line.queue AND job.priority < line.priority)
  FROM line WHERE line.priority IS NOT NULL)
  SELECT name,
  min((SELECT created_at FROM job WHERE phase = 'ready' AND job.queue = line.queue AND job.priority = line.priority
    AND due_at <= created_at ORDER BY job.number LIMIT 1)) AS fresh,
  (SELECT min(due_at) FROM job WHERE phase = 'ready' AND due_at > created_at AND job.queue = queue.number) AS late,
  (SELECT min(due_at) FROM job WHERE phase = 'waiting' AND job.queue = queue.number) AS due
  FROM line CROSS JOIN queue ON queue.number = line.queue GROUP BY queue.number ORDER BY name`;
export const oldRollup = 'SELECT 1 FROM rollup WHERE tier = ? AND at < ? LIMIT 1';
export const forgetRollups = `DELETE FROM rollup WHERE (tier, at, kind) IN
  (SELECT tier, at, kind FROM rollup WHERE tier = ? AND at < ? LIMIT ?)`;

export const finishedAttempts = `SELECT wait_ms AS waitMs, coalesce(duration_ms, finished_at - started_at) AS runMs,
  finished_at AS finishedAt,  why = 'exited' AND exit_code = 0 AS ok FROM attempt WHERE finished_at IS NOT NULL ORDER BY number DESC LIMIT ?`;
export const lastEnded = `SELECT ${JOB} ${FROM_JOB}
  WHERE phase = 'ended' AND state = ? ORDER BY finished_at DESC, job.number DESC LIMIT ?`;
