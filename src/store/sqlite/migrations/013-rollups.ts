/**
 * `rollup` has a row for every stretch of time, and one for all time (tier 0), of every pair of queue and name
 * (`rollup_kind`), with a column for each figure: one row is changed where many would be added. `w0`… and `r0`… are the
 * buckets of wait and run times (core/histogram.ts). `job_since`: the job that has been waiting longest.
 */
const columns = (letter: string): string =>
  Array.from({ length: 19 }, (_, i) => `${letter}${i} INTEGER NOT NULL DEFAULT 0`).join(', ');

export default `
CREATE TABLE rollup_kind (
  number INTEGER PRIMARY KEY,
  queue INTEGER NOT NULL REFERENCES queue,
  name TEXT NOT NULL,
  UNIQUE (name, queue)
) STRICT;

CREATE TABLE rollup (
  tier INTEGER NOT NULL,
  at INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  enqueued INTEGER NOT NULL DEFAULT 0,
  dropped INTEGER NOT NULL DEFAULT 0,
  completed INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  dead INTEGER NOT NULL DEFAULT 0,
  cancelled INTEGER NOT NULL DEFAULT 0,
  released INTEGER NOT NULL DEFAULT 0,
  lost INTEGER NOT NULL DEFAULT 0,
  wait_ms INTEGER NOT NULL DEFAULT 0,
  run_ms INTEGER NOT NULL DEFAULT 0,
  ${columns('w')},
  ${columns('r')},
  PRIMARY KEY (tier, at, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_since ON job (queue, max(due_at, created_at)) WHERE phase = 'ready';
`;
