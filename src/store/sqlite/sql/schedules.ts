export const insertSchedule = `INSERT INTO schedule (name, cron, zone, every_ms, anchor_at, overlap, catch_up, job, next_at,
  created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const SELECT_SCHEDULE = `SELECT number, name, cron, zone, every_ms AS everyMs, anchor_at AS anchorAt, overlap,
  catch_up AS catchUp, job, created_at AS createdAt, paused_at AS pausedAt, paused_by AS pausedBy, next_at AS nextAt,
  last_at AS lastAt, last_job AS lastJob, waiting`;
export const schedules = `${SELECT_SCHEDULE} FROM schedule ORDER BY name`;
export const scheduleByName = `${SELECT_SCHEDULE} FROM schedule WHERE name = ?`;
export const updateSchedule = `UPDATE schedule SET cron = ?, zone = ?, every_ms = ?, anchor_at = ?, overlap = ?, catch_up = ?,
  job = ?, next_at = iif(paused_at IS NULL, coalesce(?, next_at), NULL) WHERE name = ?`;
export const deleteSchedule = 'DELETE FROM schedule WHERE name = ?';
export const pauseSchedule = 'UPDATE schedule SET paused_at = ?, paused_by = ?, next_at = ? WHERE name = ?';
/** Is true if every job of the schedule has ended or was removed. Then a waiting tick can be enqueued. */
const NONE_OPEN = `NOT EXISTS (SELECT 1 FROM tick CROSS JOIN job ON job.number = tick.job
  WHERE tick.phase = 'open' AND tick.schedule = schedule.number AND job.phase <> 'ended')`;
const RELEASABLE = `FROM schedule WHERE waiting > 0 AND paused_at IS NULL AND ${NONE_OPEN}`;
export const nextTick = `SELECT (SELECT min(next_at) FROM schedule WHERE next_at IS NOT NULL) AS next_at,
  EXISTS (SELECT 1 ${RELEASABLE}) AS releasable`;
export const releasableSchedules = `${SELECT_SCHEDULE} ${RELEASABLE} AND number > ? ORDER BY number LIMIT ?`;
/** Sorts the numbers of all due schedules, which the index contains, and reads only the rows of the first ones. */
export const dueSchedules = `${SELECT_SCHEDULE} FROM schedule WHERE number IN (SELECT number FROM schedule INDEXED BY schedule_next
  WHERE next_at IS NOT NULL AND next_at <= ? AND number > ? ORDER BY number LIMIT ?)`;
export const moveSchedule = `UPDATE schedule SET next_at = ?
  WHERE number = ? AND next_at IS ? AND waiting = ? AND paused_at IS NULL`;
export const closeTicks = `UPDATE tick INDEXED BY tick_open SET phase = 'closed' WHERE phase = 'open' AND schedule = ?
  AND NOT EXISTS (SELECT 1 FROM job WHERE job.number = tick.job AND job.phase <> 'ended')`;
export const anyOpenTick = "SELECT 1 FROM tick WHERE phase = 'open' AND schedule = ? LIMIT 1";
export const waitingTicks = "SELECT at FROM tick WHERE phase = 'waiting' AND schedule = ? ORDER BY at";
export const insertTick = `INSERT INTO tick (schedule, at, manual, phase) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`;
/** Stores the phase and the job of a tick. The job is given by its id. */
export const updateTick = `UPDATE tick SET phase = ?, job = (SELECT number FROM job WHERE id = ?)
  WHERE schedule = ? AND at = ? AND manual = ?`;
/** Stores the number of waiting ticks, the last tick that became a job, and the id of that job. Null leaves a value as it is. */
export const storeLastTick = `UPDATE schedule SET waiting = coalesce(?, waiting), last_at = coalesce(?, last_at), last_job = coalesce(?, last_job)
  WHERE number = ?`;
export const deleteOldTicks = `DELETE FROM tick WHERE schedule = ? AND at < ? AND phase = 'closed'`;
