/**
 * `bytes` is the stored output of a job; the counters keep its sum. Ended jobs are found in the order in which they
 * ended, whatever their numbers: a job that waited for months is young when it ends, and stands in nobody's way.
 */
export default `
ALTER TABLE job ADD COLUMN hooks TEXT;
ALTER TABLE job ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE counter ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;

DROP TRIGGER job_added;
DROP TRIGGER job_changed;
DROP TRIGGER job_removed;
UPDATE job SET bytes = (SELECT sum(iif(truncated, min(output_bytes, 10485760), output_bytes)) FROM attempt
    WHERE attempt.job = job.number)
  WHERE number IN (SELECT job FROM attempt WHERE output_bytes > 0);
UPDATE counter SET bytes = (SELECT coalesce(sum(bytes), 0) FROM job
  WHERE job.queue = counter.queue AND job.state = counter.state);

CREATE TRIGGER job_added AFTER INSERT ON job BEGIN
  INSERT INTO counter VALUES (NEW.queue, NEW.state, 1, NEW.bytes)
    ON CONFLICT (queue, state) DO UPDATE SET jobs = jobs + 1, bytes = bytes + NEW.bytes;
END;
CREATE TRIGGER job_changed AFTER UPDATE OF state, queue, bytes ON job
WHEN OLD.state IS NOT NEW.state OR OLD.queue IS NOT NEW.queue OR OLD.bytes IS NOT NEW.bytes BEGIN
  UPDATE counter SET jobs = jobs - 1, bytes = bytes - OLD.bytes WHERE queue = OLD.queue AND state = OLD.state;
  INSERT INTO counter VALUES (NEW.queue, NEW.state, 1, NEW.bytes)
    ON CONFLICT (queue, state) DO UPDATE SET jobs = jobs + 1, bytes = bytes + NEW.bytes;
END;
CREATE TRIGGER job_removed AFTER DELETE ON job BEGIN
  UPDATE counter SET jobs = jobs - 1, bytes = bytes - OLD.bytes WHERE queue = OLD.queue AND state = OLD.state;
END;

CREATE INDEX job_ended ON job (state, finished_at) WHERE phase = 'ended';

DROP VIEW dlq_jobs;
DROP VIEW jobs;
CREATE VIEW jobs AS
SELECT j.id, j.command, j.argv, j.state, j.attempts, j.max_retries,
  strftime('%Y-%m-%dT%H:%M:%fZ', j.created_at / 1000.0, 'unixepoch') AS created_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', j.updated_at / 1000.0, 'unixepoch') AS updated_at,
  q.name AS queue, j.priority,
  strftime('%Y-%m-%dT%H:%M:%fZ', j.run_at / 1000.0, 'unixepoch') AS run_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', j.due_at / 1000.0, 'unixepoch') AS next_run_at,
  j.timeout_ms, j.backoff_base, '[]' AS depends_on, NULL AS unique_key, j.name, j.cwd, coalesce(j.env, '{}') AS env, coalesce(j.tags, '{}') AS tags,
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
`;
