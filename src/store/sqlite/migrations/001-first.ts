/**
 * `phase` says what the queue does with a job, `state` what a person sees: a retry that has fallen due is `ready`
 * and still `failed`. One CHECK says what a phase goes with, cheapest first: with an IN for each part it was half the
 * cost of an insert. Ready, waiting and running jobs have a partial index each and are never OR-ed in one query.
 */
export default `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('epoch', lower(hex(randomblob(6))));

CREATE TABLE queue (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE job (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  command TEXT NOT NULL,
  argv TEXT,
  queue INTEGER NOT NULL REFERENCES queue,
  priority INTEGER NOT NULL,
  max_retries INTEGER NOT NULL,
  timeout_ms INTEGER,
  run_at INTEGER,
  backoff_base REAL,
  cwd TEXT NOT NULL,
  env TEXT,
  tags TEXT,
  state TEXT NOT NULL,
  phase TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  crashes INTEGER NOT NULL DEFAULT 0,
  runs INTEGER NOT NULL DEFAULT 0,
  token INTEGER NOT NULL DEFAULT 0,
  attempt INTEGER,
  worker_id TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  due_at INTEGER,
  started_at INTEGER,
  finished_at INTEGER,
  exit_code INTEGER,
  last_error TEXT,
  duration_ms INTEGER,
  CONSTRAINT phase_and_state_fit CHECK (CASE phase
    WHEN 'running' THEN state = 'processing' AND worker_id IS NOT NULL AND finished_at IS NULL AND due_at IS NULL
    WHEN 'ended' THEN (state = 'completed' OR state = 'dead' OR state = 'cancelled')
      AND worker_id IS NULL AND finished_at IS NOT NULL AND due_at IS NULL
    ELSE (phase = 'ready' OR phase = 'waiting' OR phase = 'held' OR phase = 'blocked')
      AND (state = 'pending' OR state = 'failed')
      AND worker_id IS NULL AND finished_at IS NULL AND due_at IS NOT NULL
  END)
) STRICT;

CREATE INDEX job_ready ON job (queue, priority DESC, number) WHERE phase = 'ready';
CREATE INDEX job_waiting ON job (queue, due_at) WHERE phase = 'waiting';
CREATE INDEX job_running ON job (worker_id) WHERE phase = 'running';
CREATE INDEX job_by_state ON job (state, number);
CREATE INDEX job_by_queue ON job (queue, state, number);

CREATE TABLE attempt (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  token INTEGER NOT NULL,
  worker_id TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  wait_ms INTEGER NOT NULL,
  finished_at INTEGER,
  end_reason TEXT,
  why TEXT,
  exit_code INTEGER,
  error TEXT,
  output_bytes INTEGER NOT NULL DEFAULT 0,
  truncated INTEGER NOT NULL DEFAULT 0,
  left_behind TEXT,
  CHECK ((finished_at IS NULL) = (why IS NULL))
) STRICT;
CREATE UNIQUE INDEX attempt_by_job ON attempt (job, ordinal);

CREATE TABLE output (
  attempt INTEGER PRIMARY KEY REFERENCES attempt ON DELETE CASCADE,
  bytes BLOB NOT NULL
) STRICT;

CREATE TABLE worker (
  id TEXT PRIMARY KEY,
  supervisor TEXT NOT NULL,
  pid INTEGER NOT NULL,
  start_time TEXT NOT NULL,
  host TEXT NOT NULL,
  boot TEXT NOT NULL,
  pid_namespace TEXT NOT NULL,
  hostname TEXT NOT NULL,
  concurrency INTEGER NOT NULL,
  queues TEXT,
  started_at INTEGER NOT NULL,
  last_heartbeat INTEGER NOT NULL,
  beat INTEGER NOT NULL DEFAULT 0,
  draining INTEGER NOT NULL DEFAULT 0,
  stop_order INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE counter (
  queue INTEGER NOT NULL,
  state TEXT NOT NULL,
  jobs INTEGER NOT NULL CHECK (jobs >= 0),
  PRIMARY KEY (queue, state)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER job_added AFTER INSERT ON job BEGIN
  INSERT INTO counter VALUES (NEW.queue, NEW.state, 1)
    ON CONFLICT (queue, state) DO UPDATE SET jobs = jobs + 1;
END;
CREATE TRIGGER job_changed AFTER UPDATE OF state, queue ON job
WHEN OLD.state IS NOT NEW.state OR OLD.queue IS NOT NEW.queue BEGIN
  UPDATE counter SET jobs = jobs - 1 WHERE queue = OLD.queue AND state = OLD.state;
  INSERT INTO counter VALUES (NEW.queue, NEW.state, 1)
    ON CONFLICT (queue, state) DO UPDATE SET jobs = jobs + 1;
END;
CREATE TRIGGER job_removed AFTER DELETE ON job BEGIN
  UPDATE counter SET jobs = jobs - 1 WHERE queue = OLD.queue AND state = OLD.state;
END;
`;
