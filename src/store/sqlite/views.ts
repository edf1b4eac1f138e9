/**
 * Creates the documented views for people who open the file with `sqlite3`. They are created again with every migration, so
 * that no migration has to repeat them.
 */
export default `
DROP VIEW IF EXISTS dlq_jobs;
DROP VIEW IF EXISTS jobs;
DROP VIEW IF EXISTS workers;
DROP VIEW IF EXISTS config;
DROP VIEW IF EXISTS schedules;

CREATE VIEW jobs AS
SELECT j.id, j.command, j.argv, j.state, j.attempts, j.max_retries,
  strftime('%Y-%m-%dT%H:%M:%fZ', j.created_at / 1000.0, 'unixepoch') AS created_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', j.updated_at / 1000.0, 'unixepoch') AS updated_at,
  q.name AS queue, j.priority,
  strftime('%Y-%m-%dT%H:%M:%fZ', j.run_at / 1000.0, 'unixepoch') AS run_at,
  iif(j.phase = 'blocked', NULL, strftime('%Y-%m-%dT%H:%M:%fZ', j.due_at / 1000.0, 'unixepoch')) AS next_run_at,
  j.timeout_ms, j.backoff_base, coalesce((SELECT json_group_array(iif(value ->> 'on' = 'ok', value ->> 'id', json(value)))
    FROM json_each(j.depends_on)), '[]') AS depends_on, j.policy ->> 'onParentFailure' AS on_parent_failure, j.unique_key, j.name, j.cwd, coalesce(j.env, '{}') AS env, coalesce(j.tags, '{}') AS tags,
  j.policy -> 'retryOn' AS retry_on, j.policy -> 'noRetryOn' AS no_retry_on, coalesce(j.policy ->> 'atMostOnce', 0) AS at_most_once,
  j.policy ->> 'backoff' AS backoff, j.policy ->> 'retryDelayMs' AS retry_delay_ms, j.policy ->> 'backoffMaxMs' AS backoff_max_ms,
  j.policy ->> 'jitter' AS jitter, coalesce(j.start -> 'secretEnv', '[]') AS secret_env,
  coalesce(j.start ->> 'splitOutput', 0) AS split_output, coalesce(j.start ->> 'cleanEnv', 0) AS clean_env, coalesce(j.start ->> 'stdinBytes', 0) AS stdin_bytes,
  (SELECT CAST(bytes AS TEXT) FROM stdin WHERE stdin.job = j.number) AS stdin,
  j.hooks ->> 'complete' AS on_complete, j.hooks ->> 'failure' AS on_failure, j.hooks ->> 'dead' AS on_dead, j.worker_id,
  strftime('%Y-%m-%dT%H:%M:%fZ', j.started_at / 1000.0, 'unixepoch') AS started_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', j.finished_at / 1000.0, 'unixepoch') AS finished_at,
  j.exit_code,
  CASE WHEN j.exit_code > 128 THEN '["SIGHUP","SIGINT","SIGQUIT","SIGILL","SIGTRAP","SIGABRT","SIGBUS","SIGFPE","SIGKILL",
    "SIGUSR1","SIGSEGV","SIGUSR2","SIGPIPE","SIGALRM","SIGTERM","SIGSTKFLT","SIGCHLD","SIGCONT","SIGSTOP","SIGTSTP",
    "SIGTTIN","SIGTTOU","SIGURG","SIGXCPU","SIGXFSZ","SIGVTALRM","SIGPROF","SIGWINCH","SIGIO","SIGPWR","SIGSYS"]'
    ->> (j.exit_code - 129) END AS signal,
  j.last_error, j.crashes, j.duration_ms
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
