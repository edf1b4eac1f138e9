/**
 * Every statement of the SQLite store but those of figures and care, in the order of the contract, so that it can be
 * read beside another dialect.
 * A partial index is used only where its predicate stands literally: `phase = 'ready'` is never a parameter.
 */

import { EDITED, FIELD_COLUMNS, PLAIN_COLUMNS } from './job-columns.ts';

const JOB = `job.number, ${FIELD_COLUMNS.map((column) => (column === 'queue' ? 'queue.name AS queue' : `job.${column}`))},
  state, attempts, crashes, runs, token, attempt, worker_id, created_at, updated_at, due_at, started_at, finished_at,
  exit_code, last_error, duration_ms, phase, unique_key, unique_while, unique_until`;
const FROM_JOB = 'FROM job CROSS JOIN queue ON queue.number = job.queue';

export const insertQueue = 'INSERT INTO queue (name) VALUES (?) ON CONFLICT DO NOTHING';
export const queueNumber = 'SELECT number FROM queue WHERE name = ?';
const INSERT_JOB = `INSERT INTO job (${FIELD_COLUMNS}, blockers, phase, created_at, updated_at, due_at, state`;
const JOB_VALUES = `(${'?, '.repeat(FIELD_COLUMNS.length + 5)}'pending')`;
export const insertJob = `${INSERT_JOB}) VALUES ${JOB_VALUES}`;
/** So many in one statement, as far as they go: what a statement costs by itself is more than its rows. */
export const JOBS_AT_ONCE = [500, 50];
export const insertJobs = byRows((rows) => `${INSERT_JOB}) VALUES ${repeated(JOB_VALUES, rows)}`);
/** Inserts jobs that set no field with another column, with half as many values to bind. */
const INSERT_PLAIN = `INSERT INTO job (${PLAIN_COLUMNS}, created_at, updated_at, due_at, state, phase)`;
const PLAIN_VALUES = `(${'?, '.repeat(PLAIN_COLUMNS.length + 3)}'pending', 'ready')`;
export const insertPlainJobs = byRows((rows) => `${INSERT_PLAIN} VALUES ${repeated(PLAIN_VALUES, rows)}`);
/** Once for all that were added to a queue: a trigger would do it for each. Every insert of jobs goes through one verb. */
export const countAdded = `INSERT INTO counter (queue, state, jobs) VALUES (?, 'pending', ?)
  ON CONFLICT (queue, state) DO UPDATE SET jobs = jobs + excluded.jobs`;
export const freeSlot = 'UPDATE job SET unique_slot = NULL WHERE unique_slot = ? AND unique_until <= ?';
export const insertUniqueJob = `${INSERT_JOB}, unique_key, unique_while, unique_until, unique_slot)
  VALUES ${JOB_VALUES.slice(0, -1)}, ?, ?, ?, ?) ON CONFLICT (unique_slot) WHERE unique_slot IS NOT NULL DO NOTHING`;
export const insertStdin = 'INSERT INTO stdin (job, bytes) SELECT number, ? FROM job WHERE id = ?';
export const countStdin = 'UPDATE job SET bytes = ? WHERE id = ?';
export const jobBySlot = `SELECT ${JOB} ${FROM_JOB} WHERE unique_slot = ?`;
export const freeKey = 'DELETE FROM idempotency WHERE key = ? AND used_at <= ?';
export const takeKey = 'INSERT INTO idempotency (key, body, used_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
export const keepAnswer = 'UPDATE idempotency SET ids = ? WHERE key = ?';
export const answerOfKey = 'SELECT body, used_at, ids FROM idempotency WHERE key = ?';
export const jobById = `SELECT ${JOB} ${FROM_JOB} WHERE id = ?`;
export const insertDependency =
  "INSERT INTO dependency (child, parent, ordinal, wants, phase) VALUES (?, ?, ?, ?, 'open') ON CONFLICT DO NOTHING";

export const queuesOfState = 'SELECT queue FROM counter WHERE state = ? AND jobs > 0';
/** A page of jobs by the index that fits; `extra` are further conditions, made of known fragments only. */
export const list = {
  all: (extra: string) =>
    `SELECT ${JOB} ${FROM_JOB} WHERE job.number < ?${extra} ORDER BY job.number DESC LIMIT ?`,
  byQueueAndState: (extra: string) => `SELECT ${JOB} ${FROM_JOB}
    WHERE job.queue = ? AND state = ? AND job.number < ?${extra} ORDER BY job.number DESC LIMIT ?`,
  byName: (extra: string) => `SELECT ${JOB} ${FROM_JOB}
    WHERE job.name = ? AND job.number < ?${extra} ORDER BY job.number DESC LIMIT ?`,
};
/** From the index alone: the jobs themselves lie far apart among all that went well. */
export const deadJobs = `SELECT job.number, id, queue.name AS queue, job.name, last_error,
  coalesce(finished_at, updated_at) AS at FROM job INDEXED BY job_dead CROSS JOIN queue ON queue.number = job.queue
  WHERE state = 'dead' AND job.number < ? ORDER BY job.number DESC LIMIT ?`;
export const startingWith = 'SELECT id FROM job WHERE id >= ? AND id < ? ORDER BY id LIMIT ?';

/** Where a look at so many jobs, from a number downwards, ends. */
export const reach = {
  byQueueAndState:
    'SELECT number FROM job WHERE queue = ? AND state = ? AND number < ? ORDER BY number DESC LIMIT 1 OFFSET ?',
  byName: 'SELECT number FROM job WHERE name = ? AND number < ? ORDER BY number DESC LIMIT 1 OFFSET ?',
};
export const newestJob = 'SELECT max(number) AS number FROM job';

/** `extra` as in `list`. */
const counted = (where: string): string =>
  `SELECT count(*) AS jobs FROM (SELECT 1 FROM job WHERE ${where} LIMIT ?)`;
export const countJobs = {
  all: (extra: string) => counted(`job.number < ?${extra}`),
  byName: (extra: string) => counted(`job.name = ? AND job.number < ?${extra}`),
  byQueueAndState: (extra: string) => counted(`job.queue = ? AND state = ? AND job.number < ?${extra}`),
};

export const counts =
  'SELECT queue.name AS queue, state, jobs FROM counter JOIN queue ON queue.number = counter.queue WHERE jobs > 0';
export const attemptsOfJob = `SELECT attempt.* FROM attempt WHERE job = (SELECT number FROM job WHERE id = ?) ORDER BY ordinal`;
export const dependenciesOfJob = `SELECT ordinal, dependency.phase, parent.state FROM dependency
  LEFT JOIN job AS parent ON parent.number = dependency.parent
  WHERE child = (SELECT number FROM job WHERE id = ?) ORDER BY ordinal`;
/** Cancelled because of this one, directly or by way of others, and not run since. */
export const cutOff = `WITH RECURSIVE lost (number) AS (
    SELECT number FROM job WHERE id = ?
    UNION SELECT child FROM lost JOIN dependency ON dependency.parent = lost.number AND dependency.phase = 'failed'
      JOIN job ON job.number = child AND state = 'cancelled')
  SELECT id FROM lost JOIN job USING (number) WHERE id <> ? ORDER BY number`;
export const stdinOfJob = 'SELECT bytes FROM stdin WHERE job = (SELECT number FROM job WHERE id = ?)';
export const outputOfAttempt = 'SELECT bytes, stderr FROM output WHERE attempt = ?';
export const attemptNeedsPlace = `SELECT 1 FROM attempt WHERE number = ? AND (finished_at IS NULL
  OR (output_bytes > 0 AND NOT EXISTS (SELECT 1 FROM output WHERE output.attempt = attempt.number)))`;

export const claimableQueues = `SELECT number, name, concurrency, rate, rate_ms, tokens, tokens_at, aging_ms,
  (SELECT jobs FROM counter WHERE counter.queue = queue.number AND state = 'processing') AS running,
  EXISTS (SELECT 1 FROM job WHERE phase = 'ready' AND job.queue = queue.number) AS ready,
  (SELECT min(due_at) FROM job WHERE phase = 'waiting' AND job.queue = queue.number) AS due_at
  FROM queue WHERE paused_at IS NULL AND number IN
  (SELECT queue FROM counter WHERE jobs > 0 AND state IN ('pending', 'failed'))`;
export const totalRunning = "SELECT coalesce(sum(jobs), 0) AS jobs FROM counter WHERE state = 'processing'";
export const spendTokens = 'UPDATE queue SET tokens = ?, tokens_at = ? WHERE number = ?';
export const promote = `UPDATE job SET phase = 'ready' WHERE number IN
  (SELECT number FROM job WHERE phase = 'waiting' AND queue = ? AND due_at <= ? ORDER BY due_at LIMIT ?)`;

export const readyHeads = `SELECT number, priority FROM job
  WHERE phase = 'ready' AND queue = ? ORDER BY priority DESC, number LIMIT ?`;
export const readyPriorityBelow = `SELECT priority FROM job
  WHERE phase = 'ready' AND queue = ? AND priority < ? ORDER BY priority DESC LIMIT 1`;
export const readyHeadsOfPriority = `SELECT number, max(due_at, created_at) AS since FROM job
  WHERE phase = 'ready' AND queue = ? AND priority = ? ORDER BY number LIMIT ?`;
export const insertAttempt = `INSERT INTO attempt (job, ordinal, token, worker_id, started_at, wait_ms)
  SELECT number, runs + 1, token + 1, ?, ?, max(0, ? - due_at) FROM job WHERE number = ? AND phase = 'ready'`;
export const takeJob = `UPDATE job SET state = 'processing', phase = 'running', token = token + 1, runs = runs + 1, attempt = ?,
  worker_id = ?, started_at = ?, updated_at = ?, due_at = NULL, duration_ms = NULL WHERE number = ? AND phase = 'ready'`;
/** Also of a row that breaks the rules of its phase. */
export const holdBadJob = `UPDATE job SET phase = 'held', state = iif(state = 'failed', state, 'pending'), worker_id = NULL,
  finished_at = NULL, due_at = coalesce(due_at, ?), last_error = ? WHERE number = ?`;
export const claimedJob = `SELECT ${JOB}, (SELECT end_reason FROM attempt WHERE attempt.number = job.attempt) AS end_reason
  ${FROM_JOB} WHERE job.number = ?`;

/** As if the attempt had not been: what the attempt before it left stays. */
export const releaseJob = `UPDATE job SET state = 'pending', phase = 'ready', runs = runs - 1, due_at = ?, updated_at = ?,
  worker_id = NULL, attempt = NULL,
  started_at = (SELECT started_at FROM attempt WHERE job = job.number AND ordinal = job.runs - 1),
  duration_ms = (SELECT coalesce(duration_ms, finished_at - started_at) FROM attempt WHERE job = job.number AND ordinal = job.runs - 1)
  WHERE number = ? AND token = ? AND phase = 'running'`;
export const settleJob = `UPDATE job SET state = ?, phase = ?, attempts = ?, crashes = ?, due_at = ?,
  finished_at = ?, updated_at = ?, exit_code = ?, last_error = ?, duration_ms = coalesce(?, max(0, ? - started_at)), worker_id = NULL,
  bytes = bytes + ?
  WHERE number = ? AND token = ? AND phase = 'running'`;
export const settleAttempt = `UPDATE attempt SET finished_at = max(started_at, ?), why = ?, exit_code = ?, error = ?,
  output_bytes = ?, truncated = ?, left_behind = ?, duration_ms = ? WHERE number = ?`;
export const insertOutput = 'INSERT INTO output (attempt, bytes, stderr) VALUES (?, ?, ?)';
export const forgetAttempt = 'DELETE FROM attempt WHERE number = ?';
export const settledAttempt =
  'SELECT why, exit_code FROM attempt WHERE number = ? AND token = ? AND finished_at IS NOT NULL';
export const releasedBefore = `SELECT 1 FROM job WHERE number = ? AND token = ?
  AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.number = ?)`;

/** A queue with something running or, unless it is paused, something that is ready, due, or to be retried. */
export const busyQueues = `SELECT name FROM queue WHERE
  EXISTS (SELECT 1 FROM counter WHERE counter.queue = queue.number AND state = 'processing' AND jobs > 0)
  OR (paused_at IS NULL AND (EXISTS (SELECT 1 FROM job WHERE phase = 'ready' AND job.queue = queue.number)
    OR EXISTS (SELECT 1 FROM job WHERE phase = 'waiting' AND job.queue = queue.number AND due_at <= ?)
    OR EXISTS (SELECT 1 FROM job WHERE job.queue = queue.number AND state = 'failed' AND phase = 'waiting')))`;

export const endedJob = "SELECT id, state FROM job WHERE number = ? AND phase = 'ended'";
export const settledQueueLimit =
  'SELECT concurrency FROM queue WHERE number = (SELECT queue FROM job WHERE number = ?)';
export const endReason = 'SELECT end_reason FROM attempt WHERE number = ? AND finished_at IS NULL';
export const endingAttempt = `SELECT end_reason, attempt.started_at, ordinal, job.queue, coalesce(job.name, '') AS name,
  min(wait_ms, max(0, attempt.started_at - created_at)) AS wait_ms, rollup_kind.number AS kind
  FROM attempt CROSS JOIN job ON job.number = attempt.job
  LEFT JOIN rollup_kind ON rollup_kind.name = coalesce(job.name, '') AND rollup_kind.queue = job.queue
  WHERE attempt.number = ? AND attempt.finished_at IS NULL`;
export const markAttempt = `UPDATE attempt SET end_reason = coalesce(end_reason, ?)
  WHERE number = ? AND token = ? AND finished_at IS NULL`;
export const adoptJob = `UPDATE job SET token = token + 1, worker_id = ? WHERE number = ? AND token = ? AND phase = 'running'`;
export const adoptAttempt = 'UPDATE attempt SET token = token + 1, worker_id = ? WHERE number = ?';
export const runningJobs = `SELECT ${JOB}, (SELECT end_reason FROM attempt WHERE attempt.number = job.attempt) AS end_reason
  ${FROM_JOB} WHERE phase = 'running'`;

export const endings = `SELECT job.attempt, end_reason FROM job JOIN attempt ON attempt.number = job.attempt
  WHERE phase = 'running' AND job.worker_id = ? AND end_reason IS NOT NULL`;

export const lastAttempt = "SELECT seq AS number FROM sqlite_sequence WHERE name = 'attempt'";
export const forgetLastAttempt = "DELETE FROM sqlite_sequence WHERE name = 'attempt'";
export const setLastAttempt = "INSERT INTO sqlite_sequence (name, seq) VALUES ('attempt', ?)";

export const insertWorker = `INSERT INTO worker (id, supervisor, pid, start_time, host, boot, pid_namespace, hostname,
  concurrency, queues, started_at, last_heartbeat, stop_order) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
  coalesce((SELECT stop_order FROM supervisor WHERE id = ?), 0))`;
export const beatWorker = 'UPDATE worker SET beat = beat + 1, last_heartbeat = ?, draining = ? WHERE id = ?';
export const stopOrder = 'SELECT stop_order FROM worker WHERE id = ?';
export const deleteWorker = `DELETE FROM worker WHERE id = ?
  AND NOT EXISTS (SELECT 1 FROM job WHERE phase = 'running' AND worker_id = worker.id)`;
export const deleteHolder = `DELETE FROM worker WHERE id = ? AND EXISTS (SELECT 1 FROM worker AS heir
  WHERE heir.id IN (SELECT value FROM json_each(?)) AND heir.id <> worker.id AND heir.draining = 0 AND heir.stop_order = 0)`;
export const workers = `SELECT worker.*, (SELECT json_group_array(job.id) FROM job
  WHERE phase = 'running' AND job.worker_id = worker.id) AS current_jobs FROM worker ORDER BY started_at, id`;
export const insertSupervisor = `INSERT INTO supervisor (id, pid, start_time, host, boot, pid_namespace)
  VALUES (?, ?, ?, ?, ?, ?)`;
export const deleteSupervisor = 'DELETE FROM supervisor WHERE id = ?';
export const supervisors = 'SELECT * FROM supervisor ORDER BY id';
export const orderWorker = 'UPDATE worker SET stop_order = max(stop_order, ?) WHERE id = ? OR supervisor = ?';
export const orderSupervisor = 'UPDATE supervisor SET stop_order = max(stop_order, ?) WHERE id = ?';
export const orderWorkers = 'UPDATE worker SET stop_order = max(stop_order, ?)';
export const orderSupervisors = 'UPDATE supervisor SET stop_order = max(stop_order, ?)';
export const setStopMark = `INSERT INTO meta (key, value) VALUES ('stop', ?)
  ON CONFLICT (key) DO UPDATE SET value = excluded.value`;
export const stopMark = "SELECT value FROM meta WHERE key = 'stop'";

export const freeSlotFor = `UPDATE job SET unique_slot = NULL
  WHERE unique_slot = (SELECT unique_key FROM job WHERE id = ?) AND unique_until <= ?`;
/** A key that is taken for a time only is not taken again. */
const HAS_KEY =
  'job.unique_until IS NULL AND other.unique_slot = job.unique_key AND other.number <> job.number';
const AT_MOST_ONCE = "coalesce(policy ->> 'atMostOnce', 0)";
export const retryJob = `UPDATE job SET state = 'pending', phase = iif(phase = 'held', 'held', iif(blockers > 0, 'blocked', 'ready')), attempts = 0, crashes = 0, due_at = ?, updated_at = ?,
  finished_at = NULL, exit_code = NULL, last_error = NULL, duration_ms = NULL,
  unique_slot = iif(unique_until IS NULL, unique_key, unique_slot)
    WHERE id = ? AND phase <> 'running' AND state IN (SELECT value FROM json_each(?))
    AND NOT (? AND ${AT_MOST_ONCE} AND started_at IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM job AS other WHERE ${HAS_KEY})`;
export const keyHolder = `SELECT other.id FROM job CROSS JOIN job AS other ON ${HAS_KEY}
  WHERE job.id = ? AND job.state IN (SELECT value FROM json_each(?)) AND coalesce(other.unique_until > ?, 1)`;
export const attemptNumbers = 'SELECT number FROM attempt WHERE job = (SELECT number FROM job WHERE id = ?)';
export const deleteJob = `DELETE FROM job WHERE id = ? AND phase <> 'running' AND state IN (SELECT value FROM json_each(?))
  RETURNING number, queue`;

export const heldOfState =
  'SELECT coalesce(sum(jobs), 0) AS jobs, coalesce(sum(bytes), 0) AS bytes FROM counter WHERE state = ?';
export const endedJobs = `SELECT number, finished_at, bytes, runs + coalesce(json_array_length(depends_on), 0) AS belongings,
  coalesce(start ->> 'stdinBytes', 0) AS stdin_bytes FROM job
  WHERE phase = 'ended' AND state = ? AND (finished_at, number) > (?, ?) ORDER BY finished_at, number LIMIT ?`;
export const filedAttempts = `SELECT number FROM attempt WHERE job = ? AND output_bytes > 0
  AND NOT EXISTS (SELECT 1 FROM output WHERE output.attempt = attempt.number)`;
export const deleteEnded = "DELETE FROM job WHERE number = ? AND phase = 'ended'";

export const oldKey = 'SELECT 1 FROM idempotency WHERE used_at <= ? LIMIT 1';
export const forgetKeys = `DELETE FROM idempotency WHERE rowid IN
  (SELECT rowid FROM idempotency WHERE used_at <= ? ORDER BY used_at LIMIT ?)`;

export const phaseOfJob = 'SELECT number, phase, state, attempt, depends_on FROM job WHERE id = ?';
export const cancelJob = `UPDATE job SET state = 'cancelled', phase = 'ended', due_at = NULL, finished_at = ?, updated_at = ?,
  last_error = ? WHERE number = ? AND phase NOT IN ('running', 'ended')`;
export const cancelAttempt = `UPDATE attempt SET end_reason = 'cancelled' WHERE number = ? AND finished_at IS NULL`;
export const holdJob = `UPDATE job SET phase = 'held', updated_at = ? WHERE id = ? AND phase IN ('ready', 'waiting', 'blocked')`;
export const releaseHeld = `UPDATE job SET phase = CASE WHEN blockers > 0 THEN 'blocked' WHEN due_at > ? THEN 'waiting' ELSE 'ready' END, updated_at = ?,
  last_error = iif(state = 'pending', NULL, last_error) WHERE id = ? AND phase = 'held'`;
/** Changes the columns that have a 1 before their value. */
export const editJob = `UPDATE job SET ${EDITED.map(({ name }) => `${name} = CASE WHEN ? THEN ? ELSE ${name} END`)},
  argv = CASE WHEN ? THEN NULL ELSE argv END, due_at = coalesce(?, due_at),
  phase = CASE WHEN phase IN ('held', 'blocked') OR ? IS NULL THEN phase WHEN ? > ? THEN 'waiting' ELSE 'ready' END,
  updated_at = ? WHERE id = ? AND phase NOT IN ('running', 'ended') AND NOT (? > 1 AND ${AT_MOST_ONCE})`;

export const anyoneWaits = "SELECT 1 FROM dependency WHERE parent = ? AND phase = 'open' LIMIT 1";
/** Those whom the end of their parent suits, who run whatever became of it, or to whom it is all one by now. */
const SUITED = `parent = ? AND dependency.phase = 'open' AND (wants IN (SELECT value FROM json_each(?))
  OR (SELECT policy ->> 'onParentFailure' = 'run' OR phase = 'ended' FROM job WHERE number = child))`;
/** Ready with the last of what it waited for; a held job stays held, an ended one ended. */
export const unblock = `UPDATE job SET blockers = blockers - 1, due_at = max(due_at, ?),
  updated_at = iif(phase = 'ended', updated_at, ?),
  phase = CASE WHEN blockers > 1 OR phase <> 'blocked' THEN phase WHEN due_at > ? THEN 'waiting' ELSE 'ready' END
  WHERE number IN (SELECT child FROM dependency WHERE ${SUITED})`;
export const meetDependencies = `UPDATE dependency SET phase = 'met' WHERE ${SUITED}`;
/** The others, for whom nothing can come of it any more. */
const DISAPPOINTED = `number IN (SELECT child FROM dependency WHERE parent = ? AND dependency.phase = 'open')`;
export const holdBlocked = `UPDATE job SET phase = 'held', last_error = ?, updated_at = ?
  WHERE ${DISAPPOINTED} AND phase = 'blocked' AND policy ->> 'onParentFailure' = 'hold' RETURNING id, queue`;
export const explainHeld = `UPDATE job SET last_error = ?
  WHERE ${DISAPPOINTED} AND phase = 'held' AND policy ->> 'onParentFailure' = 'hold'`;
export const cancelBlocked = `UPDATE job SET state = 'cancelled', phase = 'ended', due_at = NULL, finished_at = ?, updated_at = ?,
  last_error = ? WHERE ${DISAPPOINTED} AND phase IN ('blocked', 'held')
  AND coalesce(policy ->> 'onParentFailure', 'cancel') = 'cancel' RETURNING number, id, queue`;
export const dropBlockers = `UPDATE job SET blockers = blockers - 1 WHERE ${DISAPPOINTED}`;
export const failDependencies = "UPDATE dependency SET phase = 'failed' WHERE parent = ? AND phase = 'open'";
/** What is over and done counts again while the parent has another go. */
export const reopenParents = `UPDATE dependency SET phase = 'open'
  WHERE child = (SELECT number FROM job WHERE id = ?) AND phase <> 'open'
  AND EXISTS (SELECT 1 FROM job WHERE job.number = parent AND job.phase <> 'ended')`;
/** Those that were given another go before their parent, and have not begun. */
export const reopenChildren = `UPDATE dependency SET phase = 'open'
  WHERE parent = (SELECT number FROM job WHERE id = ?) AND phase = 'failed'
  AND EXISTS (SELECT 1 FROM job WHERE job.number = child AND job.phase IN ('ready', 'waiting', 'blocked', 'held'))
  RETURNING child`;
const COUNT_OPEN = "(SELECT count(*) FROM dependency WHERE child = job.number AND dependency.phase = 'open')";
export const blockAgain = `UPDATE job SET blockers = ${COUNT_OPEN}, phase = iif(phase = 'held', 'held', 'blocked')
  WHERE id = ?`;
export const blockChild = `UPDATE job SET blockers = ${COUNT_OPEN}, phase = iif(phase = 'held', 'held', 'blocked')
  WHERE number = ?`;
export const edgesFrom = 'SELECT child, parent FROM dependency WHERE child >= ?';
export const idOfJob = 'SELECT id FROM job WHERE number = ?';

export const queues = 'SELECT * FROM queue ORDER BY name';
export const queueByName = 'SELECT * FROM queue WHERE name = ?';
export const anyJobOfQueue = 'SELECT 1 FROM job WHERE queue = ? LIMIT 1';
/** Rare, so no index is kept for it. */
export const deleteRollups =
  'DELETE FROM rollup WHERE kind IN (SELECT number FROM rollup_kind WHERE queue = ?)';
export const deleteKinds = 'DELETE FROM rollup_kind WHERE queue = ?';
export const deleteQueue = `DELETE FROM queue WHERE number = ?
  AND NOT EXISTS (SELECT 1 FROM job WHERE job.queue = queue.number)`;
/** Its number may be another's one day. */
export const nameInEvents = `UPDATE event SET queue = NULL, detail = json_set(coalesce(detail, '{}'), '$.queue', ?)
  WHERE queue = ?`;
export const deleteCounters = 'DELETE FROM counter WHERE queue = ?';
export const pauseQueue = 'UPDATE queue SET paused_at = ?, paused_by = ? WHERE number = ?';
export const limitQueue = 'UPDATE queue SET concurrency = ? WHERE number = ?';
export const rateQueue =
  'UPDATE queue SET rate = ?, rate_ms = ?, tokens = NULL, tokens_at = NULL WHERE number = ?';
export const ageQueue = 'UPDATE queue SET aging_ms = ? WHERE number = ?';

export const insertSchedule = `INSERT INTO schedule (name, cron, zone, every_ms, anchor_at, overlap, catch_up, job, next_at,
  created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
export const schedules = 'SELECT * FROM schedule ORDER BY name';
export const scheduleByName = 'SELECT * FROM schedule WHERE name = ?';
export const updateSchedule = `UPDATE schedule SET cron = ?, zone = ?, every_ms = ?, anchor_at = ?, overlap = ?, catch_up = ?,
  job = ?, next_at = iif(paused_at IS NULL, coalesce(?, next_at), NULL) WHERE name = ?`;
export const deleteSchedule = 'DELETE FROM schedule WHERE name = ?';
export const pauseSchedule = 'UPDATE schedule SET paused_at = ?, paused_by = ?, next_at = ? WHERE name = ?';
/** A tick may go when every job of the schedule has ended, or is gone. */
const NONE_OPEN = `NOT EXISTS (SELECT 1 FROM tick CROSS JOIN job ON job.number = tick.job
  WHERE tick.phase = 'open' AND tick.schedule = schedule.number AND job.phase <> 'ended')`;
const RELEASABLE = `FROM schedule WHERE waiting > 0 AND paused_at IS NULL AND ${NONE_OPEN}`;
export const nextTick = `SELECT (SELECT min(next_at) FROM schedule WHERE next_at IS NOT NULL) AS next_at,
  EXISTS (SELECT 1 ${RELEASABLE}) AS releasable`;
export const releasable = `SELECT * ${RELEASABLE}`;
export const dueSchedules = 'SELECT * FROM schedule WHERE next_at IS NOT NULL AND next_at <= ?';
export const moveSchedule = `UPDATE schedule SET next_at = ?
  WHERE number = ? AND next_at IS ? AND waiting = ? AND paused_at IS NULL`;
export const closeTicks = `UPDATE tick INDEXED BY tick_open SET phase = 'closed' WHERE phase = 'open' AND schedule = ?
  AND NOT EXISTS (SELECT 1 FROM job WHERE job.number = tick.job AND job.phase <> 'ended')`;
export const anyOpenTick = "SELECT 1 FROM tick WHERE phase = 'open' AND schedule = ? LIMIT 1";
export const waitingTicks = "SELECT at FROM tick WHERE phase = 'waiting' AND schedule = ? ORDER BY at";
export const insertTick = `INSERT INTO tick (schedule, at, manual, phase) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`;
export const openTick = `UPDATE tick SET phase = ?, job = ? WHERE schedule = ? AND at = ? AND manual = ?`;
export const tickFired = 'UPDATE schedule SET last_at = ?, last_job = ? WHERE number = ?';
export const countWaiting = 'UPDATE schedule SET waiting = ? WHERE number = ?';
export const forgetTicks = `DELETE FROM tick WHERE schedule = ? AND at < ? AND phase = 'closed'`;

export const setting = 'SELECT value FROM setting WHERE key = ?';
export const settings = 'SELECT key, value FROM setting';
export const putSetting =
  'INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value';
export const dropSetting = 'DELETE FROM setting WHERE key = ?';

export const finishedAttempts = `SELECT wait_ms, coalesce(duration_ms, finished_at - started_at) AS run_ms, finished_at,
  why = 'exited' AND exit_code = 0 AS ok FROM attempt WHERE finished_at IS NOT NULL ORDER BY number DESC LIMIT ?`;
export const lastEnded = `SELECT ${JOB} ${FROM_JOB}
  WHERE phase = 'ended' AND state = ? ORDER BY finished_at DESC, job.number DESC LIMIT ?`;

const RECORD = 'INSERT INTO event (at, kind, actor';
export const recordEvent = `${RECORD}, detail) VALUES (?, ?, ?, ?)`;
export const recordQueueEvent = `${RECORD}, queue, detail) VALUES (?, ?, ?, ?, ?)`;
export const recordJobEvent = `${RECORD}, id, queue, detail) SELECT ?, ?, ?, id, queue, ? FROM job WHERE id = ?`;
export const recordKnown = `${RECORD}, id, queue, detail) VALUES (?, ?, ?, ?, ?, ?)`;
export const recordAttemptEvent = `${RECORD}, id, queue, attempt, detail)
  SELECT ?, ?, coalesce(?, attempt.worker_id), id, queue, ordinal, ? FROM attempt CROSS JOIN job ON job.number = attempt.job
  WHERE attempt.number = ?`;
/** Takes a number for each of its jobs and keeps the last. */
export const recordEnqueued = `INSERT INTO event (number, at, kind, actor, jobs, first_job, id, queue) VALUES
  (coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'event'), 0) + ?, ?, 'enqueued', ?, ?, ?, ?, ?)`;
export const insertedNumber = 'SELECT last_insert_rowid() AS number';
export const events = `SELECT event.number, at, kind, actor, jobs, first_job, id, queue.name AS queue, attempt, detail
  FROM event LEFT JOIN queue ON queue.number = event.queue WHERE event.number > ? ORDER BY event.number LIMIT ?`;
export const jobsOfEvent = `SELECT job.number, id, queue.name AS queue ${FROM_JOB} WHERE job.number >= ? AND job.number < ?`;
/** Not max(number): the last may have been pruned. */
export const eventsOfJob = `SELECT event.number - iif(jobs > 1, first_job + jobs - 1 - (SELECT number FROM job WHERE id = ?), 0)
    AS number, at, kind, actor, ? AS id, queue.name AS queue, attempt, detail
  FROM event LEFT JOIN queue ON queue.number = coalesce(event.queue, (SELECT queue FROM job WHERE id = ?))
  WHERE event.number > ? AND event.number <= ? AND (event.id = ?
    OR (jobs > 1 AND (SELECT number FROM job WHERE id = ?) BETWEEN first_job AND first_job + jobs - 1))
  ORDER BY event.number DESC LIMIT ?`;
export const lastEvent = "SELECT seq FROM sqlite_sequence WHERE name = 'event'";
export const eventFrom =
  'SELECT number - jobs + 1 AS first, at FROM event WHERE number >= ? ORDER BY number LIMIT 1';
export const oldestEvents = 'SELECT number, at, jobs FROM event WHERE number > ? ORDER BY number LIMIT ?';
export const deleteEvents = 'DELETE FROM event WHERE number <= ?';

export const seal = "SELECT value FROM meta WHERE key = 'seal'";
export const putSeal = `INSERT INTO meta VALUES ('seal', ?) ON CONFLICT DO UPDATE SET value = excluded.value`;
export const epoch = "SELECT value FROM meta WHERE key = 'epoch'";

function repeated(values: string, rows: number): string {
  return Array(rows).fill(values).join(', ');
}

/** Made when first needed, and once. */
function byRows(make: (rows: number) => string): (rows: number) => string {
  const made = new Map<number, string>();
  return (rows) => {
    const text = made.get(rows) ?? make(rows);
    made.set(rows, text);
    return text;
  };
}
