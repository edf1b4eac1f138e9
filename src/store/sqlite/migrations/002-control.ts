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
`;
