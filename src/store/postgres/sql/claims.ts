import { jobChange } from '../change-jobs.ts';
import { FROM_JOB, HAS_LEASE, isOneOf, JOB, otherHost, SLOT_OF_STARTED, SPARE } from './fragments.ts';

/**
 * The orders of the partial indexes. A statement that reads the first row in such an order is planned with that index, whatever
 * the server's statistics are.
 */
const BY_READY = 'queue, priority DESC, number';
const BY_PLACED = 'runs_on, queue, priority DESC, number';
const BY_WAITING = 'queue, due_at';
const BY_RUNNING = 'queue, worker_id';
/** Finds the queues that have jobs in a phase. It steps over the index from one queue to the next, so other queues cost nothing. */
const queuesWith = (jobs: string, order: string): string => {
  const next = (condition: string): string =>
    `(SELECT queue FROM job WHERE ${jobs} ${condition} ORDER BY ${order} LIMIT 1)`;
  return `SELECT queue FROM (WITH RECURSIVE step AS (SELECT ${next('')} AS queue
    UNION ALL SELECT ${next('AND job.queue > step.queue')} FROM step WHERE step.queue IS NOT NULL)
    SELECT queue FROM step) AS found WHERE queue IS NOT NULL`;
};
/** Reads a column of the first job of a queue in a phase. PostgreSQL may answer EXISTS and `min` by reading all of them. */
const firstJob = (column: string, jobs: string, order: string): string =>
  `(SELECT ${column} FROM job WHERE ${jobs} AND job.queue = queue.number ORDER BY ${order} LIMIT 1)`;
/** Selects the rows of the index `job_ready`: the ready jobs that ask for no label or host. */
const READY = "phase = 'ready' AND runs_on IS NULL";
const WAITING = "phase = 'waiting'";
/** Selects the ready jobs that ask for the label or the host in a row of `offer`, by the index `job_placed`. */
const PLACED = "phase = 'ready' AND runs_on IS NOT NULL AND runs_on = offer.runs_on";
const HAS_READY = `${firstJob('1', READY, BY_READY)} IS NOT NULL`;
const FIRST_DUE = firstJob('due_at', WAITING, BY_WAITING);
/** Makes a row of each offer of a worker. */
const offersIn = (values: string): string => `unnest(${values}::text[]) AS offer (runs_on)`;
const hasPlaced = (offers: string): string =>
  `(SELECT 1 FROM ${offersIn(offers)}, LATERAL ${firstJob('1', PLACED, BY_PLACED)} AS found LIMIT 1) IS NOT NULL`;
/** The subquery keeps PostgreSQL from using job_waiting, which does not have the state. It uses job_by_queue. */
const HAS_RETRY = `(SELECT 1 FROM job WHERE job.queue = queue.number AND state = 'failed' AND phase = (SELECT 'waiting')
  LIMIT 1) IS NOT NULL`;
/**
 * Returns the queues of $1, or all, that are not paused and have waiting jobs. Counters may lag behind, so it reads the indexes. $2 has
 * the offers of the worker.
 */
export const openQueues = `SELECT number, concurrency, rate, rate_ms, tokens, tokens_at, aging_ms,
  CASE WHEN concurrency IS NOT NULL
    THEN (SELECT count(*) FROM job WHERE phase = 'running' AND job.queue = queue.number) END AS running,
  ${HAS_READY} AS ready,
  ${hasPlaced('$2')} AS placed,
  ${FIRST_DUE} AS due_at
  FROM queue WHERE paused_at IS NULL AND ($1::text[] IS NULL OR name = ANY($1))
  AND number = ANY (ARRAY(${queuesWith(READY, BY_READY)} UNION ${queuesWith(WAITING, BY_WAITING)}
    UNION SELECT found.queue FROM ${offersIn('$2')}, LATERAL (${queuesWith(PLACED, BY_PLACED)}) AS found))`;
/** Returns the value of max-concurrent-jobs, if it is set, and the number of running jobs. */
export const runningLimit = `SELECT value, (SELECT count(*) FROM job WHERE phase = 'running') AS running
  FROM setting WHERE key = $1`;
/** Lets one claim after the other count the running jobs, if their number is limited. */
export const lockRunningLimit = 'SELECT 1 FROM setting WHERE key = $1 FOR NO KEY UPDATE';
/** Lets one claim after the other count the running jobs, or take tokens, of limited queues. */
export const lockQueues = 'SELECT 1 FROM queue WHERE number = ANY($1) ORDER BY number FOR NO KEY UPDATE';
export const spendTokens = 'UPDATE queue SET tokens = $1, tokens_at = $2 WHERE number = $3';
/** Makes due jobs of these queues ready, in the order of their due times. At most 1,000, so that no other writer waits long. */
export const promote = `UPDATE job SET phase = 'ready' WHERE number = ANY (ARRAY(
  SELECT due.number FROM unnest($1::bigint[]) AS open (queue), LATERAL (SELECT number FROM job
    WHERE phase = 'waiting' AND job.queue = open.queue AND due_at <= $2
    ORDER BY due_at LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED) AS due LIMIT 1000))`;

const headsOf = (
  queues: string,
  most: number,
): string => `SELECT open.queue, head.number, head.priority FROM unnest(${queues}::bigint[]) AS open (queue),
  LATERAL (SELECT number, priority FROM job WHERE ${READY} AND job.queue = open.queue
    ORDER BY ${BY_READY} LIMIT ${most}) AS head`;
/** Returns the first ready jobs of each of these queues. */
export const readyHeads = (most: number): string => headsOf('$1', most);
/** Returns the first ready jobs of each of these queues that ask for each of the offers in $2. */
export const placedHeads = (most: number): string => `SELECT open.queue, head.number, head.priority
  FROM unnest($1::bigint[]) AS open (queue), ${offersIn('$2')}, LATERAL (SELECT number, priority FROM job
    WHERE ${PLACED} AND job.queue = open.queue ORDER BY ${BY_PLACED} LIMIT ${most}) AS head`;
/** Returns the first ready jobs of each priority below $2, for at most $3 priorities. Steps from one priority to the next. */
export const readyHeadsByPriority = (most: number): string => headsByPriority(most, READY, BY_READY);
/** Returns the same of the jobs that ask for the offer in $4. */
export const placedHeadsByPriority = (most: number): string =>
  headsByPriority(most, "phase = 'ready' AND runs_on IS NOT NULL AND runs_on = $4", BY_PLACED);

const headsByPriority = (most: number, jobs: string, order: string): string => {
  const below = (priority: string): string => `(SELECT priority FROM job
    WHERE ${jobs} AND queue = $1 AND priority < ${priority} ORDER BY priority DESC LIMIT 1)`;
  return `WITH RECURSIVE step AS (SELECT ${below('$2')} AS priority, 1 AS ordinal
    UNION ALL SELECT ${below('step.priority')}, ordinal + 1 FROM step WHERE step.priority IS NOT NULL AND ordinal < $3)
  SELECT step.priority, head.number, head.since FROM step, LATERAL (SELECT number, greatest(due_at, created_at) AS since
    FROM job WHERE ${jobs} AND queue = $1 AND priority BETWEEN step.priority AND step.priority
    ORDER BY ${order} LIMIT ${most}) AS head
  ORDER BY step.priority DESC, head.number`;
};

/** Locks the worker of a claim, so that it stays registered until the claim is committed. Without a lease, it gets no jobs. */
const CLAIMING_WORKER = `SELECT host, boot FROM worker WHERE id = $1 AND ${HAS_LEASE} FOR KEY SHARE`;
/**
 * Starts attempts of the jobs that `chosen` selects and locks. $1 is the worker, $2 the time of the claim, and $3 the time of the
 * events. Returns the claimed jobs in the given order.
 */
const take = (
  chosen: string,
  order: string,
): string => `WITH claiming AS MATERIALIZED (${CLAIMING_WORKER}), chosen AS MATERIALIZED (${chosen}),
  taken AS (UPDATE job SET state = 'processing', phase = 'running', token = job.token + 1, runs = job.runs + 1,
      attempt = nextval('attempt_number_seq'), worker_id = $1, started_at = $2, updated_at = $2, due_at = NULL,
      duration_ms = NULL, unique_slot = ${SLOT_OF_STARTED}
    FROM chosen, queue WHERE job.number = chosen.number AND queue.number = job.queue
      AND ${isOneOf('job.number', 'number', 'chosen')}
    RETURNING ${JOB}, queue.number AS queue_number, job.bytes, chosen.state AS old_state,
      greatest(0, $2 - chosen.due_at) AS wait_ms),
  started AS (INSERT INTO attempt (number, job, ordinal, token, worker_id, started_at, wait_ms, host, boot)
    SELECT attempt, number, runs, token, $1, $2, wait_ms, claiming.host, claiming.boot FROM taken, claiming),
  logged AS (INSERT INTO log (kind, at, actor, id, queue, attempt, old_queue, old_state, old_bytes, new_queue, new_state, new_bytes)
    SELECT 'started', $3, $1, id, queue_number, runs, queue_number, old_state, bytes, queue_number, state, bytes
    FROM taken ORDER BY ${order})
  SELECT *, NULL AS end_reason, NULL AS other_host FROM taken ORDER BY ${order}`;

/** Is checked again for a job that was changed meanwhile. PostgreSQL does not see that job_ready has these jobs, and uses numbers. */
const IS_READY = "phase || '' = 'ready'";
/**
 * Takes the first ready jobs of these queues, without those that somebody else has locked. With a parameter as LIMIT, PostgreSQL
 * would read all ready jobs. If jobs are claimed ahead, $5 is the least priority of those.
 */
export const takeFirst = (limit: number, ahead: number): string =>
  take(
    ahead === 0 ? firstReady(limit) : withoutLessUrgent(firstReady(limit + ahead), limit),
    'priority DESC, number',
  );
/** Does the same for the only open queue. It reads no more of its jobs than it takes, and those that are locked. */
export const takeFirstOfOne = (limit: number, ahead: number): string =>
  take(
    ahead === 0 ? firstReadyOfOne(limit) : withoutLessUrgent(firstReadyOfOne(limit + ahead), limit),
    'priority DESC, number',
  );

const firstReady = (most: number): string =>
  `SELECT number, state, due_at, priority FROM job WHERE EXISTS (SELECT 1 FROM claiming) AND ${IS_READY} AND number = ANY (ARRAY(
    SELECT head.number FROM (${headsOf('$4', most + SPARE)}) AS head
    ORDER BY head.priority DESC, head.number LIMIT ${most + SPARE}))
  ORDER BY priority DESC, number LIMIT ${most} FOR NO KEY UPDATE SKIP LOCKED`;

const firstReadyOfOne = (most: number): string =>
  `SELECT number, state, due_at, priority FROM job WHERE EXISTS (SELECT 1 FROM claiming) AND ${READY} AND queue = $4
  ORDER BY ${BY_READY} LIMIT ${most} FOR NO KEY UPDATE SKIP LOCKED`;

/** Leaves out the jobs after the first ones that are less urgent than the very first, or than the priority in $5. */
const withoutLessUrgent = (ready: string, limit: number): string =>
  `SELECT number, state, due_at FROM (SELECT *, row_number() OVER (ORDER BY priority DESC, number) AS place,
      max(priority) OVER () AS highest FROM (${ready}) AS locked) AS candidate
    WHERE place <= ${limit} OR priority >= greatest(highest, $5)`;

/** Takes the first $5 of the jobs with these numbers, without those that somebody else has locked. */
export const takeChosen = take(
  `SELECT number, state, due_at FROM job WHERE EXISTS (SELECT 1 FROM claiming) AND ${IS_READY} AND number = ANY($4)
    ORDER BY array_position($4::bigint[], number) LIMIT $5 FOR NO KEY UPDATE SKIP LOCKED`,
  'array_position($4::bigint[], number)',
);
export const holdUnreadable = jobChange({
  where: "number = $6 AND phase = 'ready'",
  set: "phase = 'held', last_error = $7",
});

/**
 * Finds the queues with a running job or, unless they are paused, a job that is ready, due or to be retried. $2 has the names of
 * queues, and $3 the labels and hosts for which ready jobs may ask. Null means all of them.
 */
export const busyQueues = `SELECT name FROM queue WHERE ($2::text[] IS NULL OR name = ANY($2))
  AND (${firstJob('1', "phase = 'running'", BY_RUNNING)} IS NOT NULL
    OR (paused_at IS NULL AND (${HAS_READY} OR ${FIRST_DUE} <= $1 OR ${HAS_RETRY} OR number = ANY (ARRAY(
      SELECT queue FROM job WHERE phase = 'ready' AND runs_on IS NOT NULL AND ($3::text[] IS NULL OR runs_on = ANY($3))
      GROUP BY runs_on, queue)))))`;

/**
 * Reads a job with its attempt. $1 is the id of this host, and $2 its boot. LIMIT makes PostgreSQL look up the attempt of each job by
 * its number.
 */
const CLAIMED_JOB = `SELECT ${JOB}, end_reason, other_host, other_boot ${FROM_JOB} LEFT JOIN LATERAL (SELECT end_reason,
    ${otherHost('$1', '$2')} AS other_host, attempt.boot <> $2 AS other_boot FROM attempt WHERE attempt.number = job.attempt LIMIT 1) AS running ON true`;
export const claimedJob = `${CLAIMED_JOB} WHERE job.number = $3`;
export const runningJobs = `${CLAIMED_JOB} WHERE phase = 'running'`;
export const jobsOfWorker = `${CLAIMED_JOB} WHERE phase = 'running' AND job.worker_id = $3`;
export const wishes = `SELECT job.number, job.token, job.attempt, end_reason, signal
  FROM job, LATERAL (SELECT end_reason, signal FROM attempt WHERE attempt.number = job.attempt LIMIT 1) AS running
  WHERE phase = 'running' AND job.worker_id = $1 AND coalesce(end_reason, signal) IS NOT NULL`;
export const clearSignal = `UPDATE attempt SET signal = NULL
  WHERE number = $1 AND token = $2 AND signal = $3 AND end_reason IS NULL AND finished_at IS NULL`;
/** Returns the end reason before the change. */
export const markAttempt = `WITH before AS MATERIALIZED (SELECT end_reason FROM attempt
    WHERE number = $2 AND token = $3 AND finished_at IS NULL FOR NO KEY UPDATE),
  marked AS (UPDATE attempt SET end_reason = $1 FROM before WHERE attempt.number = $2 AND before.end_reason IS NULL)
  SELECT end_reason FROM before`;
/**
 * $4 is the id of this host, and $5 its boot. An attempt of another host is left to that host until its lease is over. An attempt of
 * another boot with the id of this host is left until the lease of that boot is over. A worker whose own lease is over adopts nothing. An adopter that is no worker, such as a command that cancels a job, has no lease.
 */
export const adoptJob = `UPDATE job SET token = job.token + 1, worker_id = $1 FROM attempt
  WHERE job.number = $2 AND job.token = $3 AND job.worker_id IS NOT NULL AND attempt.number = job.attempt
  AND ((attempt.host <> $4 OR attempt.boot <> $5) IS NOT TRUE
    OR NOT EXISTS (SELECT 1 FROM host WHERE host.id = attempt.host AND (attempt.host <> $4 OR host.boot = attempt.boot) AND ${HAS_LEASE}))
  AND NOT EXISTS (SELECT 1 FROM worker WHERE worker.id = $1 AND NOT ${HAS_LEASE})`;
export const adoptAttempt = 'UPDATE attempt SET token = token + 1, worker_id = $1 WHERE number = $2';

export const seal = 'SELECT seal, seal_after FROM host WHERE id = $1 AND boot = $2';
export const putSeal = `INSERT INTO host (id, boot, name, seal, seal_after) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (id, boot) DO UPDATE SET seal = excluded.seal, seal_after = excluded.seal_after`;
/** Returns the last attempt number that was drawn, also by a transaction that was rolled back. */
export const lastAttempt =
  'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS number FROM attempt_number_seq';
