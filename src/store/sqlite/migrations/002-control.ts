/** Names and filters for jobs; pause, limits and rates for queues. */
export default `
ALTER TABLE job ADD COLUMN name TEXT;

ALTER TABLE queue ADD COLUMN paused_at INTEGER;
ALTER TABLE queue ADD COLUMN paused_by TEXT;
ALTER TABLE queue ADD COLUMN concurrency INTEGER;
ALTER TABLE queue ADD COLUMN rate INTEGER;
ALTER TABLE queue ADD COLUMN rate_ms INTEGER;
ALTER TABLE queue ADD COLUMN tokens REAL;
ALTER TABLE queue ADD COLUMN tokens_at INTEGER;

/* Queues with something to run: a claim looks at these, not at every queue that ever was. */
CREATE INDEX counter_waiting ON counter (queue) WHERE jobs > 0 AND state IN ('pending', 'failed');

CREATE TABLE supervisor (
  id TEXT PRIMARY KEY,
  pid INTEGER NOT NULL,
  start_time TEXT NOT NULL,
  host TEXT NOT NULL,
  boot TEXT NOT NULL,
  pid_namespace TEXT NOT NULL,
  stop_order INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

DROP VIEW dlq_jobs;
DROP VIEW jobs;
CREATE VIEW jobs AS
SELECT j.id, j.command, j.argv, j.state, j.attempts, j.max_retries,
  strftime('%Y-%m-%dT%H:%M:%fZ', j.created_at / 1000.0, 'unixepoch') AS created_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', j.updated_at / 1000.0, 'unixepoch') AS updated_at,
  q.name AS queue, j.priority,
  strftime('%Y-%m-%dT%H:%M:%fZ', j.run_at / 1000.0, 'unixepoch') AS run_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', j.due_at / 1000.0, 'unixepoch') AS next_run_at,
  j.timeout_ms, j.backoff_base, '[]' AS depends_on, NULL AS unique_key, j.name, j.cwd, coalesce(j.env, '{}') AS env, coalesce(j.tags, '{}') AS tags, j.worker_id,
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
`;
