/**
 * What happened, by number. Jobs that were enqueued together are one row: `jobs` of them from `first_job` on, and it
 * stands for as many numbers, of which its own is the last. Nothing is found but by number, which is by time as well.
 */
export default `
CREATE TABLE event (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  actor TEXT,
  jobs INTEGER NOT NULL DEFAULT 1 CHECK (jobs > 0),
  first_job INTEGER,
  id TEXT,
  queue INTEGER,
  attempt INTEGER,
  detail TEXT
) STRICT;
`;
