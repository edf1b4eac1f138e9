import { jobChange } from '../change-jobs.ts';
import { SLOT_OF_ENDED } from './fragments.ts';

export const childrenToAdd = 'SELECT number, id, depends_on FROM job WHERE id = ANY($1)';
/**
 * Locks the parents of new jobs, so that none of them ends before its dependencies are committed. Marks them, so that the
 * transaction that ends one of them looks for its children.
 */
export const lockParents = `WITH parent AS MATERIALIZED (SELECT number, id, phase, state FROM job WHERE id = ANY($1)
    ORDER BY number FOR NO KEY UPDATE),
  marked AS (UPDATE job SET waited_for = 1 FROM parent WHERE job.number = parent.number AND waited_for = 0)
  SELECT number, id, phase, state FROM parent`;
export const insertDependencies = `INSERT INTO dependency (child, parent, ordinal, wants, phase)
  SELECT child, parent, ordinal, wants, 'open'
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[]) AS given (child, parent, ordinal, wants)`;

export const parentsWithDependents =
  "SELECT DISTINCT parent FROM dependency WHERE parent = ANY($1) AND phase = 'open'";
/** Locks the jobs that wait for this one. The parent is locked, so none is added meanwhile. */
export const lockDependents = `SELECT job.number, wants, job.phase, policy
  FROM dependency JOIN job ON job.number = dependency.child
  WHERE parent = $1 AND dependency.phase = 'open' ORDER BY job.number FOR NO KEY UPDATE OF job`;
/** Makes blocked children ready or waiting when their last parent has ended. Held and ended children keep their phase. */
export const unblock = `UPDATE job SET blockers = blockers - 1, due_at = CASE WHEN due_at < $2 THEN $2 ELSE due_at END,
  updated_at = CASE WHEN phase = 'ended' THEN updated_at ELSE $2 END,
  phase = CASE WHEN blockers > 1 OR phase <> 'blocked' THEN phase WHEN due_at > $2 THEN 'waiting' ELSE 'ready' END
  WHERE number = ANY($1)`;
export const meetDependencies = `UPDATE dependency SET phase = 'met' FROM unnest($2::bigint[]) AS satisfied (child)
  WHERE parent = $1 AND dependency.child = satisfied.child`;
export const failDependencies = `UPDATE dependency SET phase = 'failed' FROM unnest($2::bigint[]) AS unsatisfied (child)
  WHERE parent = $1 AND dependency.child = unsatisfied.child`;
export const holdBlocked = jobChange({
  where: 'number = ANY($6)',
  set: "phase = 'held', last_error = $7, updated_at = $5, blockers = blockers - 1",
});
export const cancelBlocked = jobChange({
  where: 'number = ANY($6)',
  set: `state = 'cancelled', phase = 'ended', due_at = NULL, finished_at = $5, updated_at = $5, last_error = $7,
    blockers = blockers - 1, unique_slot = ${SLOT_OF_ENDED}`,
  isDrop: true,
});
export const explainHold = 'UPDATE job SET last_error = $2, blockers = blockers - 1 WHERE number = ANY($1)';

/** Locks the parents of these jobs, so that none of them ends before their dependencies are reopened. */
export const lockParentsOf = `SELECT number FROM job WHERE number = ANY (ARRAY(SELECT parent FROM dependency
    JOIN job AS child ON child.number = dependency.child WHERE child.id = ANY($1)))
  ORDER BY number FOR NO KEY UPDATE`;
/** Reopens the dependencies of these jobs on parents that have not ended. */
export const reopenParents = `UPDATE dependency SET phase = 'open' FROM job AS child, job AS parent
  WHERE child.id = ANY($1) AND dependency.child = child.number AND dependency.phase <> 'open'
  AND parent.number = dependency.parent AND parent.phase <> 'ended' RETURNING child.number`;
export const lockFailedChildren = `SELECT job.number FROM job JOIN dependency ON dependency.child = job.number
  JOIN job AS parent ON parent.number = dependency.parent
  WHERE parent.id = ANY($1) AND dependency.phase = 'failed' ORDER BY job.number FOR NO KEY UPDATE OF job`;
/** Reopens the failed dependencies of waiting or held children on these jobs. */
export const reopenChildren = `UPDATE dependency SET phase = 'open' FROM job AS child, job AS parent
  WHERE parent.id = ANY($1) AND dependency.parent = parent.number AND dependency.phase = 'failed'
  AND child.number = dependency.child AND child.phase IN ('ready', 'waiting', 'blocked', 'held') RETURNING child.number`;
export const blockAgain = `UPDATE job SET phase = CASE WHEN phase = 'held' THEN 'held' ELSE 'blocked' END,
  blockers = (SELECT count(*) FROM dependency WHERE child = job.number AND dependency.phase = 'open')
  WHERE number = ANY($1)`;
