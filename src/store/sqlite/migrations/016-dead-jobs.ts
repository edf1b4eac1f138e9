/** How dead jobs died, side by side: only they pay for it. */
export default `
CREATE INDEX job_dead ON job (number, id, queue, name, last_error, finished_at, updated_at) WHERE state = 'dead';
`;
