export const insertDependency =
  "INSERT INTO dependency (child, parent, ordinal, wants, phase) VALUES (?, ?, ?, ?, 'open') ON CONFLICT DO NOTHING";
/** Finds the children that would be cancelled with this job. */
export const cancelledChildren = `SELECT job.number, job.id FROM dependency CROSS JOIN job ON job.number = child
    AND job.phase IN ('blocked', 'held') AND coalesce(policy ->> 'onParentFailure', 'cancel') = 'cancel'
  WHERE parent = ? AND dependency.phase = 'open' AND wants NOT IN (SELECT value FROM json_each(?))`;
export const anyDependent = "SELECT 1 FROM dependency WHERE parent = ? AND phase = 'open' LIMIT 1";
/** Matches the children that wanted this end, that run after any end, or that have ended themselves. */
const SATISFIED = `parent = ? AND dependency.phase = 'open' AND (wants IN (SELECT value FROM json_each(?))
  OR (SELECT policy ->> 'onParentFailure' = 'run' OR phase = 'ended' FROM job WHERE number = child))`;
/** Makes blocked children ready or waiting when their last parent has ended. Held and ended children keep their phase. */
export const unblock = `UPDATE job SET blockers = blockers - 1, due_at = max(due_at, ?),
  updated_at = iif(phase = 'ended', updated_at, ?),
  phase = CASE WHEN blockers > 1 OR phase <> 'blocked' THEN phase WHEN due_at > ? THEN 'waiting' ELSE 'ready' END
  WHERE number IN (SELECT child FROM dependency WHERE ${SATISFIED})`;
export const meetDependencies = `UPDATE dependency SET phase = 'met' WHERE ${SATISFIED}`;
/** Matches the other children. Their dependency cannot be met any more. */
const STILL_BLOCKED = `number IN (SELECT child FROM dependency WHERE parent = ? AND dependency.phase = 'open')`;
export const holdBlocked = `UPDATE job SET phase = 'held', last_error = ?, updated_at = ?
  WHERE ${STILL_BLOCKED} AND phase = 'blocked' AND policy ->> 'onParentFailure' = 'hold' RETURNING id, queue`;
export const explainHold = `UPDATE job SET last_error = ?
  WHERE ${STILL_BLOCKED} AND phase = 'held' AND policy ->> 'onParentFailure' = 'hold'`;
export const cancelBlocked = `UPDATE job SET state = 'cancelled', phase = 'ended', due_at = NULL, finished_at = ?, updated_at = ?,
  last_error = ? WHERE ${STILL_BLOCKED} AND phase IN ('blocked', 'held')
  AND coalesce(policy ->> 'onParentFailure', 'cancel') = 'cancel' RETURNING number, id, queue`;
export const decrementBlockers = `UPDATE job SET blockers = blockers - 1 WHERE ${STILL_BLOCKED}`;
export const failDependencies = "UPDATE dependency SET phase = 'failed' WHERE parent = ? AND phase = 'open'";
/** Reopens the dependencies of a job on parents that have not ended. */
export const reopenParents = `UPDATE dependency SET phase = 'open'
  WHERE child = (SELECT number FROM job WHERE id = ?) AND phase <> 'open'
  AND EXISTS (SELECT 1 FROM job WHERE job.number = parent AND job.phase <> 'ended')`;
/** Reopens the failed dependencies of waiting or held children on this job. */
export const reopenChildren = `UPDATE dependency SET phase = 'open'
  WHERE parent = (SELECT number FROM job WHERE id = ?) AND phase = 'failed'
  AND EXISTS (SELECT 1 FROM job WHERE job.number = child AND job.phase IN ('ready', 'waiting', 'blocked', 'held'))
  RETURNING child`;
const COUNT_OPEN = "(SELECT count(*) FROM dependency WHERE child = job.number AND dependency.phase = 'open')";
export const blockAgain = `UPDATE job SET blockers = ${COUNT_OPEN}, phase = iif(phase = 'held', 'held', 'blocked')
  WHERE id = ?`;
export const blockChild = `UPDATE job SET blockers = ${COUNT_OPEN}, phase = iif(phase = 'held', 'held', 'blocked')
  WHERE number = ?`;
/** Reads the parents of each job with at least this number. */
export const parentsOfJobsFrom =
  'SELECT child, json_group_array(parent) AS parents FROM dependency WHERE child >= ? GROUP BY child';
export const idOfJob = 'SELECT id FROM job WHERE number = ?';
export const jobSummary = 'SELECT number, phase, state, attempt, depends_on FROM job WHERE id = ?';
export const cancelJob = `UPDATE job SET state = 'cancelled', phase = 'ended', due_at = NULL, finished_at = ?, updated_at = ?,
  last_error = ? WHERE number = ? AND phase NOT IN ('running', 'ended')`;
