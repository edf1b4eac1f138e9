import { AT_MOST_ONCE, CLOCK } from './fragments.ts';

const OPEN_QUEUE = `SELECT number, name, concurrency, rate, rate_ms, tokens, tokens_at, ready_priority, ready_job, next_due_at,
  iif(concurrency IS NULL, 0, (SELECT count(*) FROM job WHERE phase = 'running' AND job.queue = queue.number)) AS running
  FROM queue`;
const NAMED = 'name IN (SELECT value FROM json_each(?)) AND';
const IN_READY_ORDER = 'ORDER BY ready_priority DESC, ready_job LIMIT 0 + ? OFFSET ?';
const HAS_READY_JOB = 'ready_job IS NOT NULL AND paused_at IS NULL';
const HAS_DUE_JOB = 'next_due_at <= ? AND paused_at IS NULL';
/** Find the queues that may have ready jobs, in the order of their first jobs. */
export const readyQueues = `${OPEN_QUEUE} INDEXED BY queue_ready WHERE ${HAS_READY_JOB} ${IN_READY_ORDER}`;
export const readyNamedQueues = `${OPEN_QUEUE} WHERE ${NAMED} ${HAS_READY_JOB} ${IN_READY_ORDER}`;
/** Find the queues that may have waiting jobs which are due by a given time, in the order of these times. */
export const dueQueues = `${OPEN_QUEUE} INDEXED BY queue_due WHERE ${HAS_DUE_JOB} ORDER BY next_due_at LIMIT 0 + ? OFFSET ?`;
export const dueNamedQueues = `${OPEN_QUEUE} WHERE ${NAMED} ${HAS_DUE_JOB} ORDER BY next_due_at LIMIT 0 + ? OFFSET ?`;
export const setReadyBound = 'UPDATE queue SET ready_priority = ?, ready_job = ? WHERE number = ?';
export const nextDueAt = "SELECT min(due_at) AS due_at FROM job WHERE phase = 'waiting' AND queue = ?";
export const setNextDueAt = 'UPDATE queue SET next_due_at = ? WHERE number = ?';
/** Finds the other workers that take jobs, and how many more each of them can run. */
export const freeWorkers = `SELECT queues, concurrency - (SELECT count(*) FROM job WHERE phase = 'running' AND worker_id = worker.id) AS free
  FROM worker WHERE id <> ? AND draining = 0 AND stop_order = 0 AND lease_until > ${CLOCK}`;
export const spendTokens = 'UPDATE queue SET tokens = ?, tokens_at = ? WHERE number = ?';
/** Makes due jobs of a queue ready, in the order of their due times. */
export const promote = `UPDATE job SET phase = 'ready' WHERE number IN
  (SELECT number FROM job WHERE phase = 'waiting' AND queue = ? AND due_at <= ? ORDER BY due_at LIMIT 0 + ?)`;
export const readyHeads = `SELECT number, priority FROM job
  WHERE phase = 'ready' AND queue = ? ORDER BY priority DESC, number LIMIT 0 + ?`;
/** The columns that a claim changes. A job that never ran and loses no key has the same values as any other, and `wait_ms`. */
const BEFORE_CLAIM = `iif(runs > 0 OR state <> 'pending' OR unique_while = 'pending', json_object('state', state, 'attempt', attempt,
  'due_at', due_at, 'started_at', started_at, 'duration_ms', duration_ms,
  'lost_slot', iif(unique_while = 'pending', unique_slot, NULL)), NULL)`;
export const insertAttempt = `INSERT INTO attempt (job, ordinal, token, worker_id, started_at, wait_ms, job_before)
  SELECT number, runs + 1, token + 1, ?, ?, max(0, ? - due_at), ${BEFORE_CLAIM} FROM job WHERE number = ? AND phase = 'ready'`;
/** Does the same, but only for a job that may be claimed ahead. Returns the number of the attempt. */
export const insertAttemptAhead = `${insertAttempt} AND runs = 0 AND unique_key IS NULL AND NOT ${AT_MOST_ONCE} RETURNING number`;
export const takeJob = `UPDATE job SET state = 'processing', phase = 'running', token = token + 1, runs = runs + 1, attempt = ?,
  worker_id = ?, started_at = ?, updated_at = ?, due_at = NULL, duration_ms = NULL WHERE number = ? AND phase = 'ready'`;
export const settleJob = `UPDATE job SET state = ?, phase = ?, attempts = ?, crashes = ?, due_at = ?,
  finished_at = ?, updated_at = ?, exit_code = ?, last_error = ?, duration_ms = coalesce(?, max(0, ? - started_at)), worker_id = NULL,
  bytes = bytes + ?
  WHERE number = ? AND token = ? AND phase = 'running'`; // fault-control: settle-token
export const settleAttempt = `UPDATE attempt SET finished_at = max(started_at, ?), why = ?, exit_code = ?, error = ?,
  output_bytes = ?, truncated = ?, left_behind = ?, duration_ms = ?, job_before = NULL WHERE number = ?`;
export const insertOutput = 'INSERT INTO output (attempt, bytes, stderr) VALUES (?, ?, ?)';
export const anyDependent = "SELECT 1 FROM dependency WHERE parent = ? AND phase = 'open' LIMIT 1";
/** Reads a job and its attempt, which is missing if a repair saved only the job. */
export const endingAttempt = `SELECT job.number, job.id, queue.name AS queue_name, queue.concurrency IS NOT NULL AS is_limited,
  end_reason, attempt.started_at, ordinal, max(0, min(wait_ms, max(0, attempt.started_at - created_at))) AS wait_ms
  FROM job CROSS JOIN queue ON queue.number = job.queue
  LEFT JOIN attempt ON attempt.number = ? AND attempt.job = job.number AND attempt.finished_at IS NULL WHERE job.number = ?`;
export const lastAttempt = "SELECT seq AS number FROM sqlite_sequence WHERE name = 'attempt'";
