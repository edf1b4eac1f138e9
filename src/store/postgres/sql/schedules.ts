const SELECT_SCHEDULE = `SELECT number, name, cron, zone, every_ms AS "everyMs", anchor_at AS "anchorAt", overlap,
  catch_up AS "catchUp", job, created_at AS "createdAt", paused_at AS "pausedAt", paused_by AS "pausedBy",
  next_at AS "nextAt", last_at AS "lastAt", last_job AS "lastJob", waiting`;
export const schedules = `${SELECT_SCHEDULE} FROM schedule ORDER BY name`;
export const scheduleByName = `${SELECT_SCHEDULE} FROM schedule WHERE name = $1`;
export const insertSchedule = `INSERT INTO schedule (name, cron, zone, every_ms, anchor_at, overlap, catch_up, job, next_at,
  created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`;
export const updateSchedule = `UPDATE schedule SET cron = $1, zone = $2, every_ms = $3, anchor_at = $4, overlap = $5,
  catch_up = $6, job = $7, next_at = CASE WHEN paused_at IS NULL THEN coalesce($8, next_at) END WHERE name = $9`;
export const deleteSchedule = 'DELETE FROM schedule WHERE name = $1';
export const pauseSchedule =
  'UPDATE schedule SET paused_at = $1, paused_by = $2, next_at = $3 WHERE name = $4';
/** Is true if every job of the schedule has ended or was removed. Then a waiting tick can be enqueued. */
const NONE_OPEN = `NOT EXISTS (SELECT 1 FROM tick JOIN job ON job.number = tick.job
  WHERE tick.phase = 'open' AND tick.schedule = schedule.number AND job.phase <> 'ended')`;
const IS_RELEASABLE = `waiting > 0 AND paused_at IS NULL AND ${NONE_OPEN}`;
export const nextTick = `SELECT (SELECT min(next_at) FROM schedule WHERE next_at IS NOT NULL) AS next_at,
  EXISTS (SELECT 1 FROM schedule WHERE ${IS_RELEASABLE}) AS releasable`;
/**
 * Sorts the numbers of all due schedules, and reads only the rows of the first ones. The sum keeps PostgreSQL from reading all
 * schedules in the order of their numbers.
 */
export const dueSchedules = `${SELECT_SCHEDULE} FROM schedule WHERE number = ANY (ARRAY(SELECT number FROM schedule
  WHERE next_at IS NOT NULL AND next_at <= $1 AND number + 0 > $2 ORDER BY number + 0 LIMIT $3))`;
export const releasableSchedules = `${SELECT_SCHEDULE} FROM schedule WHERE ${IS_RELEASABLE} AND number > $1
  ORDER BY number LIMIT $2`;
/**
 * Moves a schedule to its next tick, unless it was moved since it was read. Waits for another transaction that moves it, and
 * then finds that it was moved.
 */
export const moveSchedule = `UPDATE schedule SET next_at = $1
  WHERE number = $2 AND next_at IS NOT DISTINCT FROM $3 AND waiting = $4 AND paused_at IS NULL`;
export const closeTicks = `UPDATE tick SET phase = 'closed' WHERE phase = 'open' AND schedule = $1
  AND NOT EXISTS (SELECT 1 FROM job WHERE job.number = tick.job AND job.phase <> 'ended')`;
export const anyOpenTick = "SELECT 1 FROM tick WHERE phase = 'open' AND schedule = $1 LIMIT 1";
export const waitingTicks = "SELECT at FROM tick WHERE phase = 'waiting' AND schedule = $1 ORDER BY at";
export const insertTick =
  'INSERT INTO tick (schedule, at, manual, phase) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING';
/** Adds ticks of a schedule. Returns those that were not handled before. */
export const insertTicks = `INSERT INTO tick (schedule, at, manual, phase) SELECT $1, at, 0, 'closed'
  FROM unnest($2::bigint[]) AS given (at) ON CONFLICT DO NOTHING RETURNING at`;
/** Stores the phase and the job of a tick. The job is given by its id. */
export const updateTick = `UPDATE tick SET phase = $1, job = (SELECT number FROM job WHERE id = $2)
  WHERE schedule = $3 AND at = $4 AND manual = $5`;
/** Stores the number of waiting ticks, the last tick that became a job, and the id of that job. Null leaves a value as it is. */
export const storeLastTick = `UPDATE schedule SET waiting = coalesce($1, waiting), last_at = coalesce($2, last_at),
  last_job = coalesce($3, last_job) WHERE number = $4`;
export const deleteOldTicks = "DELETE FROM tick WHERE schedule = $1 AND at < $2 AND phase = 'closed'";
