import type { JobChange, JobStatements } from '../steps.ts';

/** Locks the jobs in the order of their numbers, as every transaction does. */
const choose = (
  where: string,
): string => `chosen AS MATERIALIZED (SELECT number AS chosen_number, queue AS old_queue, state AS old_state,
    bytes AS old_bytes FROM job WHERE ${where} ORDER BY number FOR NO KEY UPDATE)`;

/**
 * Returns a statement for `changeJobs`. It locks the jobs, changes them, and logs the change: an event of each job, and
 * the changes of counters and figures. If a job has to be waited for, `where` is checked again with its new values. Subqueries of
 * other tables in `where` still see the old ones.
 */
export function jobChange({ where, set, isDrop = false }: JobChange): JobStatements {
  const statement = `WITH ${choose(where)},
    changed AS (UPDATE job SET ${set} FROM chosen WHERE number = chosen_number
      RETURNING number, id, queue, state, phase, coalesce(name, '') AS name, bytes, old_queue, old_state, old_bytes),
    logged AS (INSERT INTO log (kind, actor, detail, at, figure_at, figure, id, queue, name, old_queue, old_state, old_bytes,
        new_queue, new_state, new_bytes)
      SELECT $1, $2, $3, $4::bigint, $5::bigint, ${isDrop ? "'dropped'" : 'NULL'}, id, queue, name, old_queue, old_state, old_bytes,
        queue, state, bytes FROM changed ORDER BY number)
    SELECT number, id, queue, state, phase FROM changed ORDER BY number`;
  return [statement];
}

/** Returns a statement for `changeJobs` that removes jobs, and logs that. */
export function jobRemoval(where: string): JobStatements {
  const statement = `WITH ${choose(where)},
    removed AS (DELETE FROM job USING chosen WHERE number = chosen_number RETURNING number, id, queue, state, phase, bytes),
    logged AS (INSERT INTO log (kind, actor, detail, at, figure_at, id, queue, old_queue, old_state, old_bytes)
      SELECT $1, $2, $3, $4::bigint, $5::bigint, id, queue, queue, state, bytes FROM removed ORDER BY number)
    SELECT number, id, queue, state, phase FROM removed ORDER BY number`;
  return [statement];
}
