/**
 * The primary key of `idempotency` is what makes a repeated enqueue add nothing: it is written in the transaction of its
 * jobs, and outlives them. `aging_ms`: a ready job of the queue gains a priority for each such stretch it waits.
 */
export default `
CREATE TABLE idempotency (
  key TEXT PRIMARY KEY,
  body TEXT NOT NULL,
  used_at INTEGER NOT NULL,
  ids TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE INDEX idempotency_used ON idempotency (used_at);

ALTER TABLE queue ADD COLUMN aging_ms INTEGER;
`;
