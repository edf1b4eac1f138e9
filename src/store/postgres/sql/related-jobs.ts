/** Joins the children of each of the jobs. The order, like OFFSET 0, keeps the server from choosing another index or order of joins. */
const childrenOf = (
  parents: string,
  phase: string,
): string => `CROSS JOIN LATERAL (SELECT child, wants FROM dependency
    WHERE parent = ANY(ARRAY[${parents}.number]) AND phase = '${phase}' ORDER BY parent, child) AS dependency
  CROSS JOIN LATERAL (SELECT number, id, state, phase, policy, finished_at FROM job WHERE number = dependency.child OFFSET 0) AS child`;
/**
 * Finds the jobs that would be cancelled if the jobs $1 were cancelled, or deleted if $2 is 1. $3 and $4 are the conditions that
 * such an end and a cancellation meet. A running job cannot be deleted, and the end of a job that has ended cancels nothing more.
 */
export const cancelledWith = `WITH RECURSIVE gone (number, met) AS (
    SELECT number, $3::text[] FROM job WHERE id = ANY($1) AND phase <> 'ended' AND ($2 = 0 OR phase <> 'running')
    UNION SELECT child.number, $4::text[] FROM gone ${childrenOf('gone', 'open')}
      WHERE wants <> ALL (met) AND child.phase IN ('blocked', 'held') AND child.id <> ALL ($1)
        AND coalesce(child.policy::json ->> 'onParentFailure', 'cancel') = 'cancel')
  SELECT id FROM (SELECT job.number, id FROM gone JOIN job USING (number) WHERE id <> ALL ($1) LIMIT $5) AS cancelled ORDER BY number`;
/**
 * Finds the jobs that were cancelled because of this one, directly or through others, and are still cancelled. $2 is 1 to omit
 * those that an earlier end of this job has cancelled. A job and the jobs cancelled with it have the same `finished_at`.
 */
export const cancelledDueTo = `WITH RECURSIVE lost (number, at) AS (
    SELECT number, finished_at FROM job WHERE id = $1
    UNION SELECT child.number, at FROM lost ${childrenOf('lost', 'failed')}
      WHERE child.state = 'cancelled' AND (child.finished_at = at OR $2 = 0))
  SELECT id FROM lost JOIN job USING (number) WHERE id <> $1 ORDER BY number`;
