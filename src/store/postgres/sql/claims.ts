import { JOB } from '../../rows.ts';
import { AT_MOST_ONCE, HAS_LEASE, isOneOf, SPARE, UNIQUE_SLOT_OF_STARTED } from './fragments.ts';

/**
 * The orders of the partial indexes. A statement that reads the first row in such an order is planned with that index, whatever
 * the server's statistics are.
 */
const BY_READY = 'queue, priority DESC, number';
const BY_WAITING = 'queue, due_at';
const BY_RUNNING = 'queue, worker_id';
/**
 * Reads columns of the first job in a phase of each queue that has any. It steps over the index from one queue to the next, so other
 * queues cost nothing.
 */
const firstOfEach = (columns: string, jobs: string, order: string): string => {
  const next = (condition: string): string =>
    `(SELECT job.queue, ${columns} FROM job WHERE ${jobs} ${condition} ORDER BY ${order} LIMIT 1)`;
  return `(WITH RECURSIVE step AS (${next('')} UNION ALL
    SELECT following.* FROM step, LATERAL ${next('AND job.queue > step.queue')} AS following) SELECT * FROM step)`;
};
/** Reads a column of the first job of a queue in a phase. PostgreSQL may answer EXISTS and `min` by reading all of them. */
const firstJob = (column: string, jobs: string, order: string): string =>
  `(SELECT ${column} FROM job WHERE ${jobs} AND job.queue = queue.number ORDER BY ${order} LIMIT 1)`;
const READY = "phase = 'ready'";
const WAITING = "phase = 'waiting'";
const HAS_READY = `${firstJob('1', READY, BY_READY)} IS NOT NULL`;
const FIRST_DUE = firstJob('due_at', WAITING, BY_WAITING);
/** The subquery keeps PostgreSQL from using job_waiting, which does not have the state. It uses job_by_queue. */
const HAS_RETRY = `(SELECT 1 FROM job WHERE job.queue = queue.number AND state = 'failed' AND phase = (SELECT 'waiting')
  LIMIT 1) IS NOT NULL`;
/** Matches queues with a running job or, unless they are paused, a job that is ready, due by $1 or to be retried. */
export const IS_BUSY = `(${firstJob('1', "phase = 'running'", BY_RUNNING)} IS NOT NULL
  OR (paused_at IS NULL AND (${HAS_READY} OR ${FIRST_DUE} <= $1 OR ${HAS_RETRY})))`;
/**
 * Returns the queues of $1, or all, that are not paused and have waiting jobs, and the place of the first ready job of each. Counters
 * may lag behind, so it reads the indexes. It reads the start of an index only once: while an old transaction is open, the server
 * cannot remove the entries of the jobs that have started since. LIMIT makes it look up each queue by its number.
 */
export const openQueues = `SELECT queue.number, name, concurrency, rate, rate_ms, tokens, tokens_at,
  CASE WHEN concurrency IS NOT NULL
    THEN (SELECT count(*) FROM job WHERE phase = 'running' AND job.queue = queue.number) END AS running,
  first_priority, first_number, due_at
  FROM (SELECT queue, max(priority) AS first_priority, max(first.number) AS first_number, min(due_at) AS due_at FROM (
      SELECT queue, priority, ready.number, NULL::bigint AS due_at
        FROM ${firstOfEach('priority, number', READY, BY_READY)} AS ready
      UNION ALL SELECT queue, NULL, NULL, due_at FROM ${firstOfEach('due_at', WAITING, BY_WAITING)} AS waiting) AS first
    GROUP BY queue) AS open, LATERAL (SELECT * FROM queue WHERE number = open.queue LIMIT 1) AS queue
  WHERE paused_at IS NULL AND ($1::text[] IS NULL OR name = ANY($1))`;
/** Finds the workers other than $1 that take jobs, and how many more each of them can run. */
export const freeWorkers = `SELECT queues, concurrency - coalesce(jobs, 0) AS free FROM worker
  LEFT JOIN (SELECT worker_id, count(*) AS jobs FROM job WHERE phase = 'running' GROUP BY worker_id) AS running ON worker_id = id
  WHERE id <> $1 AND draining = 0 AND stop_order = 0 AND has_left = 0 AND ${HAS_LEASE}`;
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

/**
 * Selects the first ready jobs of a queue from a place in the index on. These are two ranges, because the server would read the entries
 * before the place, too, if one range had an OR. With an array, the primary key does not have the order of the first range.
 */
const readyFrom = (columns: string, [queue, priority, number]: string[], most: number, lock = ''): string => {
  const range = (condition: string): string => `SELECT * FROM (SELECT ${columns} FROM job
      WHERE ${READY} AND job.queue = ANY (ARRAY[${queue}::bigint]) AND ${condition} ORDER BY ${BY_READY} LIMIT ${most} ${lock}) AS part`;
  return `${range(`priority = ${priority} AND number >= ${number}`)}
    UNION ALL ${range(`priority < ${priority}`)} LIMIT ${most}`;
};
const OPEN = ['open.queue', 'open.priority', 'open.number'];
/** The values from the given one on are arrays: the numbers of the queues, and the place in each from which ready jobs are read. */
const headsOf = (value: number, most: number): string => `SELECT open.queue, head.number, head.priority
  FROM unnest($${value}::bigint[], $${value + 1}::bigint[], $${value + 2}::bigint[]) AS open (queue, priority, number),
  LATERAL (${readyFrom('number, priority', OPEN, most)}) AS head`;
/** Returns the first ready jobs of each of these queues. */
export const readyHeads = (most: number): string => headsOf(1, most);
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
      duration_ms = NULL, unique_slot = ${UNIQUE_SLOT_OF_STARTED}
    FROM chosen, queue WHERE job.number = chosen.number AND queue.number = job.queue
      AND ${isOneOf('job.number', 'number', 'chosen')}
    RETURNING ${JOB}, queue.number AS queue_number, job.bytes, chosen.state AS old_state,
      greatest(0, $2 - chosen.due_at) AS wait_ms, chosen.job_before),
  started AS (INSERT INTO attempt (number, job, ordinal, token, worker_id, started_at, wait_ms, host, boot, job_before)
    SELECT attempt, number, runs, token, $1, $2, wait_ms, claiming.host, claiming.boot, job_before FROM taken, claiming),
  logged AS (INSERT INTO log (kind, at, actor, id, queue, attempt, old_queue, old_state, old_bytes, new_queue, new_state, new_bytes)
    SELECT 'started', $3, $1, id, queue_number, runs, queue_number, old_state, bytes, queue_number, state, bytes
    FROM taken ORDER BY ${order})
  SELECT *, NULL AS end_reason, NULL AS other_host FROM taken ORDER BY ${order}`;

/** The columns that a claim changes. A job that never ran and loses no key has the same values as any other, and `wait_ms`. */
const BEFORE_CLAIM = `CASE WHEN runs > 0 OR unique_while = 'pending' THEN json_build_object('state', state, 'attempt', attempt,
  'due_at', due_at, 'started_at', started_at, 'duration_ms', duration_ms,
  'lost_slot', CASE WHEN unique_while = 'pending' THEN unique_slot END)::text END AS job_before`;
/** The columns of a chosen job. The last one tells whether it may be claimed ahead. */
const CHOSEN = `number, state, due_at, priority, ${BEFORE_CLAIM},
  runs = 0 AND unique_key IS NULL AND NOT ${AT_MOST_ONCE} AS is_plain`;
/** Is checked again for a job that was changed meanwhile. PostgreSQL does not see that job_ready has these jobs, and uses numbers. */
const IS_READY = "phase || '' = 'ready'";
/**
 * Takes the first ready jobs of these queues, without those that somebody else has locked. With a parameter as LIMIT, PostgreSQL
 * would read all ready jobs. If jobs are claimed ahead, $7 is the least priority of those.
 */
export const takeFirst = (limit: number, ahead: number): string =>
  take(ahead === 0 ? firstReady(limit) : aheadOf(firstReady(limit + ahead), limit), 'priority DESC, number');
/** Does the same for the only open queue. It reads no more of its jobs than it takes, and those that are locked. */
export const takeFirstOfOne = (limit: number, ahead: number): string =>
  take(
    ahead === 0 ? firstReadyOfOne(limit) : aheadOf(firstReadyOfOne(limit + ahead), limit),
    'priority DESC, number',
  );

const firstReady = (most: number): string =>
  `SELECT ${CHOSEN} FROM job WHERE EXISTS (SELECT 1 FROM claiming) AND ${IS_READY} AND number = ANY (ARRAY(
    SELECT head.number FROM (${headsOf(4, most + SPARE)}) AS head
    ORDER BY head.priority DESC, head.number LIMIT ${most + SPARE}))
  ORDER BY priority DESC, number LIMIT ${most} FOR NO KEY UPDATE SKIP LOCKED`;

/** The second range is read, and its jobs are locked, only if the first one has too few. */
const firstReadyOfOne = (most: number): string =>
  `SELECT * FROM (${readyFrom(CHOSEN, ['$4', '$5', '$6'], most, 'FOR NO KEY UPDATE SKIP LOCKED')}) AS ready
  WHERE EXISTS (SELECT 1 FROM claiming)`;

/**
 * Leaves out the jobs after the first ones that are less urgent than the very first, or than the priority in $7. Also leaves out the
 * first of them that may not be claimed ahead, and the jobs after it, so that none overtakes it.
 */
const aheadOf = (ready: string, limit: number): string =>
  `SELECT * FROM (SELECT *, bool_and(place <= ${limit} OR is_plain) OVER (ORDER BY place) AS all_plain
      FROM (SELECT *, row_number() OVER (ORDER BY priority DESC, number) AS place, max(priority) OVER () AS highest
        FROM (${ready}) AS locked) AS placed) AS candidate
    WHERE place <= ${limit} OR (all_plain AND priority >= greatest(highest, $7))`;

const GIVEN_PLACE = 'array_position($4::bigint[], number)';
const FIRST_CHOSEN = `SELECT ${CHOSEN} FROM job WHERE EXISTS (SELECT 1 FROM claiming) AND ${IS_READY} AND number = ANY($4)
    ORDER BY ${GIVEN_PLACE} LIMIT $5 FOR NO KEY UPDATE SKIP LOCKED`;
/** Takes the first $5 of the jobs with these numbers, without those that somebody else has locked. */
export const takeChosen = take(FIRST_CHOSEN, GIVEN_PLACE);
/** Does the same, but stops at the first job that may not be claimed ahead. */
export const takeChosenAhead = take(
  `SELECT * FROM (SELECT *, bool_and(is_plain) OVER (ORDER BY ${GIVEN_PLACE}) AS all_plain FROM (${FIRST_CHOSEN}) AS locked) AS candidate
    WHERE all_plain`,
  GIVEN_PLACE,
);
/** Returns the last attempt number that was drawn, also by a transaction that was rolled back. */
export const lastAttempt =
  'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS number FROM attempt_number_seq';
