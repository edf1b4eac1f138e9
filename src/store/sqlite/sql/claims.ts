import { FROM_JOB, JOB, READY_FOR_ALL, SET_ASIDE } from './fragments.ts';

const ANY_PLACED = "EXISTS (SELECT 1 FROM job WHERE phase = 'ready' AND runs_on IS NOT NULL)";
const OPEN_QUEUE = `SELECT number, concurrency, rate, rate_ms, tokens, tokens_at, aging_ms, ready_priority, ready_job, next_due_at,
  iif(concurrency IS NULL, 0, (SELECT jobs FROM counter WHERE counter.queue = queue.number AND state = 'processing')) AS running
  FROM queue`;
const NAMED = 'name IN (SELECT value FROM json_each(?)) AND';
const IN_READY_ORDER = 'ORDER BY aging_ms IS NULL, ready_priority DESC, ready_job LIMIT 0 + ? OFFSET ?';
const HAS_READY_JOB = 'ready_job IS NOT NULL AND paused_at IS NULL';
const HAS_DUE_JOB = 'next_due_at <= ? AND paused_at IS NULL';
/** Find the queues that may have ready jobs: those with priority aging, and then the others, in the order of their first jobs. */
export const readyQueues = `${OPEN_QUEUE} INDEXED BY queue_ready WHERE ${HAS_READY_JOB} ${IN_READY_ORDER}`;
export const readyNamedQueues = `${OPEN_QUEUE} WHERE ${NAMED} ${HAS_READY_JOB} ${IN_READY_ORDER}`;
/** Find the queues that may have waiting jobs which are due by a given time, in the order of these times. */
export const dueQueues = `${OPEN_QUEUE} INDEXED BY queue_due WHERE ${HAS_DUE_JOB} ORDER BY next_due_at LIMIT 0 + ? OFFSET ?`;
export const dueNamedQueues = `${OPEN_QUEUE} WHERE ${NAMED} ${HAS_DUE_JOB} ORDER BY next_due_at LIMIT 0 + ? OFFSET ?`;
export const openQueue = `${OPEN_QUEUE} WHERE number = ? AND paused_at IS NULL`;
export const openNamedQueue = `${OPEN_QUEUE} WHERE ${NAMED} number = ? AND paused_at IS NULL`;
export const setReadyBound = 'UPDATE queue SET ready_priority = ?, ready_job = ? WHERE number = ?';
export const nextDueAt = "SELECT min(due_at) AS due_at FROM job WHERE phase = 'waiting' AND queue = ?";
export const setNextDueAt = 'UPDATE queue SET next_due_at = ? WHERE number = ?';
export const totalRunning = "SELECT coalesce(sum(jobs), 0) AS jobs FROM counter WHERE state = 'processing'";
export const spendTokens = 'UPDATE queue SET tokens = ?, tokens_at = ? WHERE number = ?';
/** Makes due jobs of a queue ready, in the order of their due times. */
export const promote = `UPDATE job SET phase = 'ready' WHERE number IN
  (SELECT number FROM job WHERE phase = 'waiting' AND queue = ? AND due_at <= ? ORDER BY due_at LIMIT 0 + ?)`;
const headsWhere = (which: string): string => `SELECT number, priority FROM job
  WHERE ${which} ORDER BY priority DESC, number LIMIT 0 + ?`;
const priorityBelowWhere = (which: string): string => `SELECT priority FROM job
  WHERE ${which} AND priority < ? ORDER BY priority DESC LIMIT 1`;
const headsOfPriorityWhere = (
  which: string,
): string => `SELECT number, max(due_at, created_at) AS since FROM job
  WHERE ${which} AND priority = ? ORDER BY number LIMIT 0 + ?`;
const PLAIN_JOBS = `${READY_FOR_ALL} AND queue = ?`;
export const readyHeads = headsWhere(PLAIN_JOBS);
export const readyPriorityBelow = priorityBelowWhere(PLAIN_JOBS);
export const readyHeadsOfPriority = headsOfPriorityWhere(PLAIN_JOBS);
/* The same for the jobs of a queue that ask for one label or host. */
const PLACED_JOBS = "phase = 'ready' AND queue = ? AND runs_on = ?";
export const placedHeads = headsWhere(PLACED_JOBS);
export const placedPriorityBelow = priorityBelowWhere(PLACED_JOBS);
export const placedHeadsOfPriority = headsOfPriorityWhere(PLACED_JOBS);
/** Finds the next label or host for which ready jobs ask, with a queue of these jobs. The cost does not depend on their number. */
export const nextPlace = `SELECT runs_on, queue FROM job
  WHERE phase = 'ready' AND runs_on IS NOT NULL AND (runs_on, queue) > (?, ?) ORDER BY runs_on, queue LIMIT 1`;
/** Finds the next queue with ready jobs that ask for this. */
export const nextQueueOfPlace =
  "SELECT min(queue) AS queue FROM job WHERE phase = 'ready' AND runs_on = ? AND queue > ?";
export const insertAttempt = `INSERT INTO attempt (job, ordinal, token, worker_id, started_at, wait_ms)
  SELECT number, runs + 1, token + 1, ?, ?, max(0, ? - due_at) FROM job WHERE number = ? AND phase = 'ready'`;
export const takeJob = `UPDATE job SET state = 'processing', phase = 'running', token = token + 1, runs = runs + 1, attempt = ?,
  worker_id = ?, started_at = ?, updated_at = ?, due_at = NULL, duration_ms = NULL WHERE number = ? AND phase = 'ready'`;
/** Holds a job, and sets the columns that a CHECK compares with its phase. */
export const holdBadJob = `UPDATE job SET phase = 'held', state = iif(state = 'failed', state, 'pending'), worker_id = NULL,
  finished_at = NULL, due_at = coalesce(due_at, ?), last_error = ? WHERE number = ?`;
export const claimedJob = `SELECT ${JOB}, (SELECT end_reason FROM attempt WHERE attempt.number = job.attempt) AS end_reason
  ${FROM_JOB} WHERE job.number = ?`;
/**
 * Undoes the start of an attempt. The job gets back the time since when it waits, and the start and the duration of its previous
 * attempt.
 */
export const undoAttempt = `UPDATE job SET state = 'pending', phase = 'ready', runs = runs - 1, updated_at = ?2,
  due_at = coalesce((SELECT min(?1, started_at - wait_ms) FROM attempt WHERE number = job.attempt), ?1),
  worker_id = NULL, attempt = NULL,
  started_at = (SELECT started_at FROM attempt WHERE job = job.number AND ordinal = job.runs - 1),
  duration_ms = (SELECT coalesce(duration_ms, finished_at - started_at) FROM attempt WHERE job = job.number AND ordinal = job.runs - 1)
  WHERE number = ?3 AND token = ?4 AND phase = 'running'`;
export const settleJob = `UPDATE job SET state = ?, phase = ?, attempts = ?, crashes = ?, due_at = ?,
  finished_at = ?, updated_at = ?, exit_code = ?, last_error = ?, duration_ms = coalesce(?, max(0, ? - started_at)), worker_id = NULL,
  bytes = bytes + ?
  WHERE number = ? AND token = ? AND phase = 'running'`; // fault-control: settle-token
export const settleAttempt = `UPDATE attempt SET finished_at = max(started_at, ?), why = ?, exit_code = ?, error = ?,
  output_bytes = ?, truncated = ?, left_behind = ?, duration_ms = ? WHERE number = ?`;
export const insertOutput = 'INSERT INTO output (attempt, bytes, stderr) VALUES (?, ?, ?)';
export const deleteAttempt = 'DELETE FROM attempt WHERE number = ?';
export const settledAttempt =
  'SELECT why, exit_code FROM attempt WHERE number = ? AND token = ? AND finished_at IS NOT NULL';
export const anyUndoneAttempt = `SELECT 1 FROM job WHERE number = ? AND token = ?
  AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.number = ?)`;
/**
 * Matches queues with a running job or, unless they are paused, a job that is ready for every worker, due or to be retried. Ready
 * jobs that ask for a worker are found with `nextPlace`.
 */
const IS_BUSY = `(EXISTS (SELECT 1 FROM counter WHERE counter.queue = queue.number AND state = 'processing' AND jobs > 0)
  OR (paused_at IS NULL AND (EXISTS (SELECT 1 FROM job WHERE ${READY_FOR_ALL} AND job.queue = queue.number)
    OR EXISTS (SELECT 1 FROM job WHERE phase = 'waiting' AND job.queue = queue.number AND due_at <= ?)
    OR EXISTS (SELECT 1 FROM job WHERE ${SET_ASIDE} AND phase = 'waiting' AND job.queue = queue.number AND state = 'failed'))))`;
export const busyQueues = `SELECT name FROM queue WHERE ${IS_BUSY}`;
export const busyNamedQueues = `SELECT name FROM queue WHERE ${NAMED} ${IS_BUSY}`;
export const anyBusyQueueExcept = `SELECT 1 FROM queue WHERE ${IS_BUSY} AND name <> ? LIMIT 1`;
export const endedJob = "SELECT number, id, state AS end FROM job WHERE number = ? AND phase = 'ended'";
export const endReason = 'SELECT end_reason FROM attempt WHERE number = ? AND finished_at IS NULL';
export const endingAttempt = `SELECT end_reason, attempt.started_at, ordinal, job.queue, coalesce(job.name, '') AS name,
  min(wait_ms, max(0, attempt.started_at - created_at)) AS wait_ms, rollup_kind.number AS kind,
  (SELECT concurrency FROM queue WHERE queue.number = job.queue) AS concurrency
  FROM attempt CROSS JOIN job ON job.number = attempt.job
  LEFT JOIN rollup_kind ON rollup_kind.name = coalesce(job.name, '') AND rollup_kind.queue = job.queue
  WHERE attempt.number = ? AND attempt.finished_at IS NULL`;
export const markAttempt = `UPDATE attempt SET end_reason = coalesce(end_reason, ?)
  WHERE number = ? AND token = ? AND finished_at IS NULL`; // fault-control: mark-token
export const adoptJob = `UPDATE job SET token = token + 1, worker_id = ? WHERE number = ? AND token = ? AND phase = 'running'`; // fault-control: adopt-token
export const adoptAttempt = 'UPDATE attempt SET token = token + 1, worker_id = ? WHERE number = ?'; // fault-control: adopt-attempt-token
const RUNNING_JOBS = `SELECT ${JOB}, (SELECT end_reason FROM attempt WHERE attempt.number = job.attempt) AS end_reason
  ${FROM_JOB} WHERE phase = 'running'`;
export const runningJobs = RUNNING_JOBS;
export const jobsOfWorker = `${RUNNING_JOBS} AND worker_id = ?`;
export const wishes = `SELECT job.number, job.token, job.attempt, end_reason, signal
  FROM job JOIN attempt ON attempt.number = job.attempt
  WHERE phase = 'running' AND job.worker_id = ? AND coalesce(end_reason, signal) IS NOT NULL`;
export const clearSignal = `UPDATE attempt SET signal = NULL
  WHERE number = ? AND token = ? AND signal = ? AND end_reason IS NULL AND finished_at IS NULL`;
export const lastAttempt = "SELECT seq AS number FROM sqlite_sequence WHERE name = 'attempt'";
/** Returns a setting, and whether ready jobs ask for a label or a host. */
export const settingAndAnyPlaced = `SELECT (SELECT value FROM setting WHERE key = ?) AS value, ${ANY_PLACED} AS any_placed`;
/** Returns the stop order of a worker, and the same. */
export const orderAndAnyPlaced = `SELECT (SELECT stop_order FROM worker WHERE id = ?) AS stop_order, ${ANY_PLACED} AS any_placed`;
export const openQueueNames =
  'SELECT name FROM queue WHERE paused_at IS NULL AND number IN (SELECT value FROM json_each(?))';
export const seal = "SELECT value FROM meta WHERE key = 'seal'";
export const putSeal = `INSERT INTO meta VALUES ('seal', ?) ON CONFLICT DO UPDATE SET value = excluded.value`;
