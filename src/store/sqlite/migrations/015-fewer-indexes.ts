/**
 * Every index costs every new job, and again at each step of its life. Jobs of a state are found queue by queue, and the
 * oldest that waits at the head of its priority, unless it had to wait for its time: only those are in `job_late`.
 */
export default `
DROP INDEX job_by_state;
DROP INDEX job_since;
CREATE INDEX job_late ON job (queue, due_at) WHERE phase = 'ready' AND due_at > created_at;
`;
