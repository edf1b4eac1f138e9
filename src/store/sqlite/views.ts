import { jobView } from './job-view.ts';

/**
 * Creates the documented views for people who open the file with `sqlite3`. They are created again with every migration, so
 * that no migration has to repeat them.
 */
export default (): string => `
DROP VIEW IF EXISTS dlq_jobs;
DROP VIEW IF EXISTS jobs;
DROP VIEW IF EXISTS workers;
DROP VIEW IF EXISTS config;
DROP VIEW IF EXISTS schedules;

CREATE VIEW jobs AS
SELECT ${jobView()}
FROM job j JOIN queue q ON q.number = j.queue;

CREATE VIEW dlq_jobs AS SELECT * FROM jobs WHERE state = 'dead';

CREATE VIEW workers AS
SELECT id, pid, hostname,
  strftime('%Y-%m-%dT%H:%M:%fZ', started_at / 1000.0, 'unixepoch') AS started_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', last_heartbeat / 1000.0, 'unixepoch') AS last_heartbeat,
  CASE WHEN draining = 1 OR stop_order > 0 THEN 'draining'
    WHEN EXISTS (SELECT 1 FROM job WHERE phase = 'running' AND job.worker_id = worker.id) THEN 'busy'
    ELSE 'idle' END AS status,
  coalesce(queues, '["*"]') AS queues,
  (SELECT json_group_array(job.id) FROM job WHERE phase = 'running' AND job.worker_id = worker.id) AS current_jobs
FROM worker;

CREATE VIEW config AS SELECT key, value FROM setting;

CREATE VIEW schedules AS
SELECT name, cron, zone AS timezone, every_ms, overlap, catch_up, paused_at IS NOT NULL AS paused,
  strftime('%Y-%m-%dT%H:%M:%fZ', paused_at / 1000.0, 'unixepoch') AS paused_at, paused_by,
  strftime('%Y-%m-%dT%H:%M:%fZ', next_at / 1000.0, 'unixepoch') AS next_run_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', last_at / 1000.0, 'unixepoch') AS last_run_at,
  last_job AS last_job_id, waiting,
  strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created_at,
  job ->> 'command' AS command, job -> 'argv' AS argv, coalesce(job ->> 'queue', 'default') AS queue
FROM schedule;
`;
