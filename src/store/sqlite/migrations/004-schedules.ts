/**
 * Schedules and their ticks. The primary key of `tick` is what makes a fire time enqueue exactly once: it is written in
 * the transaction of its job, and outlives the schedule's moving on, so that a clock set back repeats nothing.
 */
export default `
CREATE TABLE schedule (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  cron TEXT,
  zone TEXT,
  every_ms INTEGER,
  anchor_at INTEGER,
  overlap TEXT NOT NULL CHECK (overlap IN ('skip', 'queue', 'allow')),
  catch_up TEXT NOT NULL CHECK (catch_up IN ('none', 'one', 'all')),
  job TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  paused_at INTEGER,
  paused_by TEXT,
  next_at INTEGER,
  last_at INTEGER,
  last_job TEXT,
  waiting INTEGER NOT NULL DEFAULT 0,
  CHECK ((cron IS NULL) = (zone IS NULL)),
  CHECK ((cron IS NULL) = (every_ms IS NOT NULL)),
  CHECK ((every_ms IS NULL) = (anchor_at IS NULL)),
  CHECK (paused_at IS NULL OR next_at IS NULL)
) STRICT;
CREATE INDEX schedule_next ON schedule (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX schedule_waiting ON schedule (number) WHERE waiting > 0;

CREATE TABLE tick (
  schedule INTEGER NOT NULL REFERENCES schedule ON DELETE CASCADE,
  at INTEGER NOT NULL,
  manual INTEGER NOT NULL,
  phase TEXT NOT NULL CHECK (phase IN ('waiting', 'open', 'closed')),
  job INTEGER,
  PRIMARY KEY (schedule, at, manual)
) STRICT, WITHOUT ROWID;
CREATE INDEX tick_open ON tick (schedule, job) WHERE phase = 'open';
CREATE INDEX tick_waiting ON tick (schedule, at) WHERE phase = 'waiting';
`;
