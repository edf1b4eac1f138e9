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
/** Locks the jobs that wait for one of these. The parents are locked, so none is added meanwhile. */
export const lockDependentsOfAll = `SELECT number FROM job
  WHERE number = ANY (ARRAY(SELECT child FROM dependency WHERE parent = ANY($1) AND dependency.phase = 'open'))
  ORDER BY number FOR NO KEY UPDATE`;
export const dependentsOf = `SELECT job.number, wants, job.phase, policy
  FROM dependency JOIN job ON job.number = dependency.child
  WHERE parent = $1 AND dependency.phase = 'open' ORDER BY job.number`;
/** Makes blocked children ready or waiting when their last parent has ended. Held and ended children keep their phase. */
export const unblock = `UPDATE job SET blockers = blockers - 1, due_at = CASE WHEN due_at < $2 THEN $2 ELSE due_at END,
  updated_at = CASE WHEN phase = 'ended' THEN updated_at ELSE $2 END,
  phase = CASE WHEN blockers > 1 OR phase <> 'blocked' THEN phase WHEN due_at > $2 THEN 'waiting' ELSE 'ready' END
  WHERE number = ANY($1)`;
/**
 * Compares the numbers of jobs with a list that may be long. The list is hashed. A second `= ANY` beside the one of an index would
 * make servers before version 17 search the whole list for each row.
 */
const isIn = (column: string, list: string): string =>
  `CASE WHEN ${column} IN (SELECT unnest(${list}::bigint[])) THEN true END`;
const setPhase = (phase: string): string => `UPDATE dependency SET phase = '${phase}'
  WHERE parent = $1 AND phase = 'open' AND ${isIn('child', '$2')}`;
export const meetDependencies = setPhase('met');
export const failDependencies = setPhase('failed');
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

export const numbersOfJobs = 'SELECT number FROM job WHERE id = ANY($1)';
/** Locks the parents of these jobs, so that none of them ends before their dependencies are reopened. */
export const lockParentsOf = `SELECT number, phase FROM job
  WHERE number = ANY (ARRAY(SELECT parent FROM dependency WHERE child = ANY($1))) ORDER BY number FOR NO KEY UPDATE`;
export const reopenParents = `UPDATE dependency SET phase = 'open'
  WHERE child = ANY($1) AND ${isIn('parent', '$2')} AND phase <> 'open' RETURNING child AS number`;
export const lockFailedChildren = `SELECT number, phase FROM job
  WHERE number = ANY (ARRAY(SELECT child FROM dependency WHERE parent = ANY($1) AND dependency.phase = 'failed'))
  ORDER BY number FOR NO KEY UPDATE`;
export const reopenChildren = `UPDATE dependency SET phase = 'open'
  WHERE parent = ANY($1) AND phase = 'failed' AND ${isIn('child', '$2')} RETURNING child AS number`;
export const blockAgain = `UPDATE job SET phase = CASE WHEN phase = 'held' THEN 'held' ELSE 'blocked' END,
  blockers = (SELECT count(*) FROM dependency WHERE child = job.number AND dependency.phase = 'open')
  WHERE number = ANY($1)`;
