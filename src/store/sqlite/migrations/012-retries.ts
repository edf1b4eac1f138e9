/** Whether anything waits for a retry is asked with every end of a job where there is an `on-idle` hook. */
export default `
CREATE INDEX job_retry ON job (queue) WHERE phase = 'waiting' AND state = 'failed';
`;
