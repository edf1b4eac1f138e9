/**
 * Locks out other folds until the transaction ends. Every role that may connect can take an advisory lock, but only one that may
 * change the row can lock it.
 */
export const lockFold = 'SELECT 1 FROM event_number FOR NO KEY UPDATE';
/** Returns a row unless another transaction has the lock. */
export const tryLockFold = `${lockFold} SKIP LOCKED`;
/** Returns a row if there is something to fold. A role that may not fold sees what others have folded. */
export const anyLogged = "SELECT 1 FROM log WHERE has_table_privilege('log', 'DELETE') LIMIT 1";

/** What the rows of the log add to the counters, as rows of queue, state, jobs and bytes. */
const deltas = (log: string): string => `
  SELECT old_queue AS queue, old_state AS state, -jobs AS jobs, -coalesce(old_bytes, 0) AS bytes FROM ${log} WHERE old_queue IS NOT NULL
  UNION ALL SELECT new_queue, new_state, jobs, coalesce(new_bytes, 0) FROM ${log} WHERE new_queue IS NOT NULL`;

/**
 * Takes the oldest rows of the log. Numbers their events without a gap, in the order in which they were logged, and adds to the
 * counters. Returns the rows that have figures.
 */
export const fold = `WITH taken AS (DELETE FROM log WHERE seq = ANY (ARRAY(SELECT seq FROM log ORDER BY seq LIMIT 1000)) RETURNING *),
  numbered AS (SELECT taken.*, last + sum(jobs) OVER (ORDER BY seq) AS number
    FROM taken CROSS JOIN event_number WHERE kind IS NOT NULL),
  added AS (INSERT INTO event (number, at, kind, actor, jobs, first_job, id, queue, attempt, detail)
    SELECT number, at, kind, actor, jobs, first_job, id, queue, attempt, detail FROM numbered ORDER BY number),
  moved AS (UPDATE event_number SET last = newest FROM (SELECT max(number) AS newest FROM numbered) AS one WHERE newest IS NOT NULL),
  counted AS (INSERT INTO counter (queue, state, jobs, bytes)
    SELECT queue, state, sum(jobs), sum(bytes) FROM (${deltas('taken')}) AS delta
    WHERE queue IN (SELECT number FROM queue) GROUP BY queue, state
    ON CONFLICT (queue, state) DO UPDATE SET jobs = counter.jobs + excluded.jobs, bytes = counter.bytes + excluded.bytes)
  SELECT figure, figure_at AS at, new_queue AS queue, coalesce(name, '') AS name, jobs, wait_ms AS "waitMs", run_ms AS "runMs"
  FROM taken WHERE figure IS NOT NULL AND new_queue IN (SELECT number FROM queue) ORDER BY seq`;

/** Counts jobs and bytes by queue and state, as of now. */
export const CURRENT_COUNTS = `SELECT queue, state, sum(jobs) AS jobs, sum(bytes) AS bytes
  FROM (SELECT queue, state, jobs, bytes FROM counter UNION ALL ${deltas('log')}) AS part
  GROUP BY queue, state HAVING sum(jobs) > 0`;

export const kinds = 'SELECT number, queue, name FROM rollup_kind';
export const insertKind = 'INSERT INTO rollup_kind (name, queue) VALUES ($1, $2) RETURNING number';
export const packedTimes = `SELECT tier, at, kind, wait, run FROM rollup
  WHERE (tier, at, kind) IN (SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]))`;
const COUNTED = ['enqueued', 'dropped', 'completed', 'failed', 'dead', 'cancelled', 'released', 'lost'];
const added = (column: string): string => `${column} = rollup.${column} + excluded.${column}`;
const withTime = (name: string): string => `${added(`${name}_ms`)},
  ${name}_least = least(rollup.${name}_least, excluded.${name}_least),
  ${name}_most = greatest(rollup.${name}_most, excluded.${name}_most), ${name} = coalesce(excluded.${name}, rollup.${name})`;
/** Adds to the figures of each period and kind. The packed counts replace the old ones. */
export const addFigures = `INSERT INTO rollup (tier, at, kind, ${COUNTED}, wait_ms, wait_least, wait_most, wait, run_ms, run_least, run_most, run)
  SELECT * FROM unnest(${Array.from({ length: 11 + 8 }, (_, i) => `$${i + 1}::${i === 14 || i === 18 ? 'bytea' : 'bigint'}[]`)})
  ON CONFLICT (tier, at, kind) DO UPDATE SET ${COUNTED.map(added)}, ${withTime('wait')}, ${withTime('run')}`;
