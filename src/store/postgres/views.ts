const time = (column: string): string => `to_timestamp(${column} / 1000.0) AS ${column}`;

/**
 * Creates views for roles that must not see environment variables, standard input and output. They have the rights of their owner, so
 * such a role needs no right to the tables. The columns are named one by one, so that a new one is not shown by accident.
 */
export const VIEWS = `
CREATE VIEW jobs_without_env AS SELECT job.id, job.name, queue.name AS queue, job.state, job.priority, job.attempts, job.max_retries,
  job.crashes, job.command, job.cwd, job.tags, job.exit_code, job.last_error, job.worker_id, job.duration_ms,
  ${['created_at', 'updated_at', 'due_at', 'started_at', 'finished_at'].map((column) => time(column)).join(', ')}
  FROM job JOIN queue ON queue.number = job.queue;
CREATE VIEW schedules_without_env AS SELECT name, cron, zone, every_ms, overlap, catch_up, paused_by, last_job,
  (job::json ->> 'command') COLLATE "C" AS command, coalesce(job::json ->> 'queue', 'default') COLLATE "C" AS queue,
  ${['created_at', 'paused_at', 'next_at', 'last_at'].map((column) => time(column)).join(', ')}
  FROM schedule
`;
