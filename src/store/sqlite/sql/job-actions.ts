import { editableFields } from '../../stored-columns.ts';
/** Frees the unique key of a job if the time limit of the job that has it is over. */
export const freeExpiredSlotOfJob = `UPDATE job SET unique_slot = NULL
  WHERE unique_slot = (SELECT unique_key FROM job WHERE id = ?) AND unique_until <= ?`;
/** Matches the other job that has the unique key. A key with a time limit is not taken again. */
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
export const jobSummary = 'SELECT number, phase, state, attempt, depends_on FROM job WHERE id = ?';
export const cancelJob = `UPDATE job SET state = 'cancelled', phase = 'ended', due_at = NULL, finished_at = ?, updated_at = ?,
  last_error = ? WHERE number = ? AND phase NOT IN ('running', 'ended')`;
/** Cancels an attempt. A signal that was wished before the cancel is not the first signal of the cancel. */
export const cancelAttempt = `UPDATE attempt SET signal = coalesce(?, iif(end_reason = 'cancelled', signal, NULL)),
  end_reason = 'cancelled' WHERE number = ? AND finished_at IS NULL`;
export const wishSignal = `UPDATE attempt SET signal = ? WHERE end_reason IS NULL AND finished_at IS NULL
  AND number = (SELECT attempt FROM job WHERE id = ? AND phase = 'running')`;
export const holdJob = `UPDATE job SET phase = 'held', updated_at = ? WHERE id = ? AND phase IN ('ready', 'waiting', 'blocked')`;
/** Releases a job. Its wait begins now at the earliest, because the time on hold does not count. */
export const releaseHeld = `UPDATE job SET due_at = max(due_at, ?), phase = CASE WHEN blockers > 0 THEN 'blocked' WHEN due_at > ? THEN 'waiting' ELSE 'ready' END, updated_at = ?,
  last_error = iif(state = 'pending', NULL, last_error) WHERE id = ? AND phase = 'held'`;
/** Changes the columns whose first parameter is 1 to their second parameter. */
export const editJob =
  (): string => `UPDATE job SET ${editableFields().map(({ name }) => `${name} = CASE WHEN ? THEN ? ELSE ${name} END`)},
  argv = CASE WHEN ? THEN NULL ELSE argv END, due_at = coalesce(?, due_at),
  phase = CASE WHEN phase IN ('held', 'blocked') OR ? IS NULL THEN phase WHEN ? > ? THEN 'waiting' ELSE 'ready' END,
  updated_at = ? WHERE id = ? AND phase NOT IN ('running', 'ended') AND NOT (? > 1 AND ${AT_MOST_ONCE})`;
