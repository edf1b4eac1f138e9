/**
 * Creates the tables, indexes and triggers of schema version 22. Once a version with this text was released, the text never
 * changes: a migration is added instead (migrate.ts). The numbers are therefore written out, and ranges.ts has the same ones.
 *
 * CHECKs keep numbers and times in range. An UPDATE tests only those of the columns that it changes. NULL passes a CHECK. Long
 * texts are the last columns of a row, so that the others are read without them.
 *
 * A newer version stops the workers of an older one through `meta`, `setting`, `worker`, `supervisor` and the columns `id`,
 * `phase` and `worker_id` of `job`. A migration must keep these as they are.
 *
 * Some columns stand where ALTER TABLE once added them, because `db check` compares the text of the schema with that of the file.
 */
const inRange = (min: number, max: number, ...columns: string[]): string =>
  columns.map((column) => `${column} BETWEEN ${min} AND ${max}`).join(' AND ');
const rangeColumn = (column: string, min: number, max: number, type = 'INTEGER'): string =>
  `${column} ${type} CHECK (${inRange(min, max, column)})`;
/** Attempt numbers have at most 15 digits in a cookie. */
const LARGEST_NUMBER = 999_999_999_999_999;
/** A JavaScript date can be this many milliseconds. */
const LATEST_DATE_MS = 8_640_000_000_000_000;
const numberColumn = (column: string): string => rangeColumn(column, 1, LARGEST_NUMBER);
const countColumn = (column: string): string => rangeColumn(column, 0, LARGEST_NUMBER);
const timeColumn = (column: string): string => rangeColumn(column, 0, LATEST_DATE_MS);
const durationColumn = (column: string): string => rangeColumn(column, 1, LATEST_DATE_MS);
const exitCodeColumn = (column: string): string => rangeColumn(column, -2_147_483_648, 2_147_483_647);
const flagColumn = (column: string): string => rangeColumn(column, 0, 1);
const figureColumns = (...columns: string[]): string =>
  columns.map((column) => `${column} INTEGER NOT NULL DEFAULT 0`).join(', ');
const histogramColumns = (name: string): string =>
  `${name}_ms INTEGER NOT NULL DEFAULT 0, ${name}_least INTEGER, ${name}_most INTEGER, ${name} BLOB`;

export default `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('epoch', lower(hex(randomblob(6))));

CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

/*
 * tokens is what is left of the rate. A ready job gains one priority for each aging_ms that it waits. No ready job of a queue comes
 * before the one with ready_priority and ready_job, and no waiting job is due before next_due_at. NULL means that there is none.
 * These are bounds, because a job that starts or ends does not change them. A claim corrects them. An insert changes them itself, once
 * per batch and queue.
 */
CREATE TABLE queue (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  ${timeColumn('paused_at')},
  paused_by TEXT,
  ${numberColumn('concurrency')},
  ${numberColumn('rate')},
  ${durationColumn('rate_ms')},
  ${rangeColumn('tokens', -LARGEST_NUMBER, LARGEST_NUMBER, 'REAL')},
  ${timeColumn('tokens_at')},
  ${durationColumn('aging_ms')}
, ${rangeColumn('ready_priority', -1_000_000, 1_000_000)}, ${numberColumn('ready_job')}, ${timeColumn('next_due_at')}) STRICT;
/* The rank of a job in a queue with priority aging changes all the time, so every claim reads all these queues, first. */
CREATE INDEX queue_ready ON queue (aging_ms IS NULL, ready_priority DESC, ready_job)
    WHERE ready_job IS NOT NULL AND paused_at IS NULL;
CREATE INDEX queue_due ON queue (next_due_at) WHERE next_due_at IS NOT NULL AND paused_at IS NULL;

/*
 * phase is what the queue does with a job, state is what users see: a retry that is due is ready and still failed.
 * unique_slot is the unique key while it is in use. blockers counts the open dependencies. bytes counts the stdin and the output.
 * start has rarely used options of the start: names of secrets, split output, clean environment, the size of stdin.
 * A job with runs_on waits for a worker with this label, or of this host.
 */
CREATE TABLE job (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  name TEXT,
  queue INTEGER NOT NULL REFERENCES queue,
  state TEXT NOT NULL,
  phase TEXT NOT NULL,
  ${rangeColumn('priority', -1_000_000, 1_000_000)} NOT NULL,
  ${rangeColumn('max_retries', 0, 1000)} NOT NULL,
  timeout_ms INTEGER,
  backoff_base REAL,
  attempts INTEGER NOT NULL DEFAULT 0,
  crashes INTEGER NOT NULL DEFAULT 0,
  runs INTEGER NOT NULL DEFAULT 0,
  token INTEGER NOT NULL DEFAULT 0,
  attempt INTEGER,
  worker_id TEXT,
  ${timeColumn('created_at')} NOT NULL,
  ${timeColumn('updated_at')} NOT NULL,
  run_at INTEGER,
  ${timeColumn('due_at')},
  started_at INTEGER,
  finished_at INTEGER,
  exit_code INTEGER,
  duration_ms INTEGER,
  bytes INTEGER NOT NULL DEFAULT 0,
  blockers INTEGER NOT NULL DEFAULT 0,
  unique_key TEXT,
  unique_while TEXT CHECK (unique_while IN ('pending', 'active')),
  unique_until INTEGER,
  unique_slot TEXT,
  cwd TEXT NOT NULL,
  argv TEXT,
  depends_on TEXT,
  tags TEXT,
  hooks TEXT,
  policy TEXT,
  start TEXT,
  last_error TEXT,
  env TEXT,
  command TEXT NOT NULL, runs_on TEXT,
  /* Most jobs are inserted with 0 and NULL in these columns. One short test passes them: a CHECK for each cost 3 %. */
  CHECK (attempts | crashes | runs | token | bytes | blockers = 0
    OR ${inRange(0, LARGEST_NUMBER, 'attempts', 'crashes', 'runs', 'token', 'bytes', 'blockers')}),
  CHECK (timeout_ms IS NULL AND backoff_base IS NULL AND attempt IS NULL AND run_at IS NULL AND started_at IS NULL
    AND finished_at IS NULL AND exit_code IS NULL AND duration_ms IS NULL AND unique_until IS NULL
    OR ${inRange(1, LATEST_DATE_MS, 'timeout_ms')} AND ${inRange(1, 1000, 'backoff_base')} AND ${inRange(1, LARGEST_NUMBER, 'attempt')}
    AND ${inRange(0, LATEST_DATE_MS, 'run_at', 'started_at', 'finished_at', 'duration_ms', 'unique_until')}
    AND ${inRange(-2_147_483_648, 2_147_483_647, 'exit_code')}),
  /* The cheapest comparisons come first: with an IN for each part this was half the cost of an insert. */
  CONSTRAINT phase_and_state_fit CHECK (CASE
    WHEN phase = 'ready' OR phase = 'waiting' OR phase = 'held' OR phase = 'blocked'
    THEN (state = 'pending' OR state = 'failed') AND worker_id IS NULL AND finished_at IS NULL AND due_at IS NOT NULL
    WHEN phase = 'running'
    THEN state = 'processing' AND worker_id IS NOT NULL AND finished_at IS NULL AND due_at IS NULL
    WHEN phase = 'ended' THEN (state = 'completed' OR state = 'dead' OR state = 'cancelled')
      AND worker_id IS NULL AND finished_at IS NOT NULL AND due_at IS NULL
    ELSE 0
  END)
) STRICT;
/* Every index slows down every insert, so most are partial. No query selects two of their phases with OR, because it could use neither index. */
/*
 * Jobs with runs_on have an index of their own, so that they never stand before jobs that every worker can take. SQLite would read the
 * row of each job to test runs_on if the other index did not have it.
 */
CREATE INDEX job_ready ON job (queue, priority DESC, number, runs_on) WHERE phase = 'ready' AND runs_on IS NULL;
CREATE INDEX job_placed ON job (runs_on, queue, priority DESC, number) WHERE phase = 'ready' AND runs_on IS NOT NULL;
CREATE INDEX job_waiting ON job (queue, due_at) WHERE phase = 'waiting';
/*
 * Has the jobs that cannot run for a reason of their own: not yet due, held or blocked. Lists and counts by reason read it
 * instead of all waiting jobs.
 */
CREATE INDEX job_set_aside ON job (phase, queue, state, number, due_at) WHERE phase IN ('waiting', 'held', 'blocked');
CREATE INDEX job_late ON job (queue, due_at) WHERE phase = 'ready' AND due_at > created_at;
CREATE INDEX job_running ON job (worker_id) WHERE phase = 'running';
CREATE INDEX job_ended ON job (state, finished_at) WHERE phase = 'ended';
CREATE INDEX job_dead ON job (number, id, queue, name, last_error, finished_at, updated_at) WHERE state = 'dead';
CREATE INDEX job_by_queue ON job (queue, state, number);
CREATE INDEX job_by_name ON job (name, number) WHERE name IS NOT NULL;
/* Of two jobs with the same key only the first is inserted, even if both are enqueued at the same moment. */
CREATE UNIQUE INDEX job_unique ON job (unique_slot) WHERE unique_slot IS NOT NULL;

/* duration_ms is measured by a monotonic clock. If it is null, it follows from the two times. */
CREATE TABLE attempt (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
  ${countColumn('ordinal')} NOT NULL,
  ${countColumn('token')} NOT NULL,
  worker_id TEXT NOT NULL,
  ${timeColumn('started_at')} NOT NULL,
  ${timeColumn('wait_ms')} NOT NULL,
  ${timeColumn('finished_at')},
  ${timeColumn('duration_ms')},
  end_reason TEXT,
  why TEXT,
  ${exitCodeColumn('exit_code')},
  ${countColumn('output_bytes')} NOT NULL DEFAULT 0,
  ${flagColumn('truncated')} NOT NULL DEFAULT 0,
  error TEXT,
  left_behind TEXT, signal TEXT,
  CHECK ((finished_at IS NULL) = (why IS NULL))
) STRICT;
CREATE UNIQUE INDEX attempt_by_job ON attempt (job, ordinal);

/* stderr is null unless the output was split. */
CREATE TABLE output (
  attempt INTEGER PRIMARY KEY REFERENCES attempt ON DELETE CASCADE,
  bytes BLOB NOT NULL,
  stderr BLOB
) STRICT;

CREATE TABLE stdin (
  job INTEGER PRIMARY KEY REFERENCES job ON DELETE CASCADE,
  bytes BLOB NOT NULL
) STRICT;

/* job.depends_on holds what the user asked for. These rows hold the current state of each dependency. */
CREATE TABLE dependency (
  child INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
  parent INTEGER NOT NULL,
  ${countColumn('ordinal')} NOT NULL,
  wants TEXT NOT NULL CHECK (wants IN ('ok', 'any', 'notok')),
  phase TEXT NOT NULL CHECK (phase IN ('open', 'met', 'failed')),
  PRIMARY KEY (child, parent)
) STRICT, WITHOUT ROWID;
CREATE INDEX dependency_by_parent ON dependency (parent, phase);

/* A row is written in the transaction of its jobs and outlives them, so a repeated enqueue inserts nothing. */
CREATE TABLE idempotency (
  key TEXT PRIMARY KEY,
  body TEXT NOT NULL,
  ${timeColumn('used_at')} NOT NULL,
  ids TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE INDEX idempotency_used ON idempotency (used_at);

CREATE TABLE schedule (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  cron TEXT,
  zone TEXT,
  ${durationColumn('every_ms')},
  ${timeColumn('anchor_at')},
  overlap TEXT NOT NULL CHECK (overlap IN ('skip', 'queue', 'allow')),
  catch_up TEXT NOT NULL CHECK (catch_up IN ('none', 'one', 'all')),
  job TEXT NOT NULL,
  ${timeColumn('created_at')} NOT NULL,
  ${timeColumn('paused_at')},
  paused_by TEXT,
  ${timeColumn('next_at')},
  ${timeColumn('last_at')},
  last_job TEXT,
  ${countColumn('waiting')} NOT NULL DEFAULT 0,
  CHECK ((cron IS NULL) = (zone IS NULL)),
  CHECK ((cron IS NULL) = (every_ms IS NOT NULL)),
  CHECK ((every_ms IS NULL) = (anchor_at IS NULL)),
  CHECK (paused_at IS NULL OR next_at IS NULL)
) STRICT;
CREATE INDEX schedule_next ON schedule (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX schedule_waiting ON schedule (number) WHERE waiting > 0;

/* The primary key lets each tick enqueue its job only once. Rows are kept for some hours, so that a clock set back repeats no tick. */
CREATE TABLE tick (
  schedule INTEGER NOT NULL REFERENCES schedule ON DELETE CASCADE,
  ${timeColumn('at')} NOT NULL,
  ${flagColumn('manual')} NOT NULL,
  phase TEXT NOT NULL CHECK (phase IN ('waiting', 'open', 'closed')),
  job INTEGER,
  PRIMARY KEY (schedule, at, manual)
) STRICT, WITHOUT ROWID;
CREATE INDEX tick_open ON tick (schedule, job) WHERE phase = 'open';
CREATE INDEX tick_waiting ON tick (schedule, at) WHERE phase = 'waiting';

/* Jobs that were enqueued together have one row. It stands for one event number per job, and its own number is the last of them. */
CREATE TABLE event (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  ${timeColumn('at')} NOT NULL,
  kind TEXT NOT NULL,
  actor TEXT,
  ${numberColumn('jobs')} NOT NULL DEFAULT 1,
  ${numberColumn('first_job')},
  id TEXT,
  ${numberColumn('queue')},
  ${countColumn('attempt')},
  detail TEXT
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
  ${timeColumn('started_at')} NOT NULL,
  ${timeColumn('last_heartbeat')} NOT NULL,
  ${countColumn('beat')} NOT NULL DEFAULT 0,
  ${flagColumn('draining')} NOT NULL DEFAULT 0,
  ${countColumn('stop_order')} NOT NULL DEFAULT 0
, lease_until INTEGER NOT NULL DEFAULT 0 CHECK (${inRange(0, LATEST_DATE_MS, 'lease_until')}), labels TEXT) STRICT, WITHOUT ROWID;

CREATE TABLE supervisor (
  id TEXT PRIMARY KEY,
  pid INTEGER NOT NULL,
  start_time TEXT NOT NULL,
  host TEXT NOT NULL,
  boot TEXT NOT NULL,
  pid_namespace TEXT NOT NULL,
  ${countColumn('stop_order')} NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE counter (
  queue INTEGER NOT NULL,
  state TEXT NOT NULL,
  jobs INTEGER NOT NULL CHECK (jobs >= 0),
  bytes INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (queue, state)
) STRICT, WITHOUT ROWID;
/* A claim looks only at queues that have waiting jobs. */
CREATE INDEX counter_waiting ON counter (queue) WHERE jobs > 0 AND state IN ('pending', 'failed');

/* A row of rollup has the figures of one period, or of all time (tier 0), of a queue and a job name (rollup_kind). */
CREATE TABLE rollup_kind (
  number INTEGER PRIMARY KEY,
  queue INTEGER NOT NULL REFERENCES queue,
  name TEXT NOT NULL,
  UNIQUE (name, queue)
) STRICT;
/*
 * oldest_ms is the longest time that the oldest waiting job of the queue was seen waiting, in rows without a name. wait and run
 * hold the buckets of the times (core/rules/histogram.ts), with their sum, the shortest and the longest.
 */
CREATE TABLE rollup (
  tier INTEGER NOT NULL,
  at INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  ${figureColumns('enqueued', 'dropped', 'completed', 'failed', 'dead', 'cancelled', 'released', 'lost', 'oldest_ms')},
  ${histogramColumns('wait')},
  ${histogramColumns('run')},
  PRIMARY KEY (tier, at, kind)
) STRICT, WITHOUT ROWID;

/* An insert counts its jobs itself, once per batch. With a trigger, a batch took a third longer. */
CREATE TRIGGER job_changed AFTER UPDATE OF state, queue, bytes ON job
WHEN OLD.state IS NOT NEW.state OR OLD.queue IS NOT NEW.queue OR OLD.bytes IS NOT NEW.bytes BEGIN
  UPDATE counter SET jobs = jobs - 1, bytes = bytes - OLD.bytes WHERE queue = OLD.queue AND state = OLD.state;
  INSERT INTO counter VALUES (NEW.queue, NEW.state, 1, NEW.bytes)
    ON CONFLICT (queue, state) DO UPDATE SET jobs = jobs + 1, bytes = bytes + NEW.bytes;
END;
CREATE TRIGGER job_removed AFTER DELETE ON job BEGIN
  UPDATE counter SET jobs = jobs - 1, bytes = bytes - OLD.bytes WHERE queue = OLD.queue AND state = OLD.state;
END;
CREATE TRIGGER job_became_ready AFTER UPDATE OF number, queue, phase, priority, runs_on ON job
  WHEN NEW.phase = 'ready' AND NEW.runs_on IS NULL BEGIN
    UPDATE queue SET ready_priority = NEW.priority, ready_job = NEW.number WHERE number = NEW.queue AND (ready_job IS NULL
      OR ready_priority < NEW.priority OR ready_priority = NEW.priority AND ready_job > NEW.number);
  END;
CREATE TRIGGER job_became_waiting AFTER UPDATE OF queue, phase, due_at ON job WHEN NEW.phase = 'waiting' BEGIN
    UPDATE queue SET next_due_at = NEW.due_at WHERE number = NEW.queue AND (next_due_at IS NULL OR next_due_at > NEW.due_at);
  END;
CREATE TRIGGER job_unique_over AFTER UPDATE OF phase ON job
WHEN NEW.unique_slot IS NOT NULL AND (NEW.phase = 'ended' AND NEW.unique_while = 'active'
  OR NEW.phase IN ('running', 'ended') AND NEW.unique_while = 'pending') BEGIN
  UPDATE job SET unique_slot = NULL WHERE number = NEW.number;
END;
`;
