/**
 * Creates the index of the jobs that cannot run for a reason of their own: not yet due, held or blocked. Lists and counts by
 * reason read it instead of all waiting jobs. It also has the waiting retries, for which `job_retry` was.
 */
export default `
DROP INDEX job_retry;
CREATE INDEX job_set_aside ON job (phase, queue, state, number, due_at) WHERE phase IN ('waiting', 'held', 'blocked');
`;
