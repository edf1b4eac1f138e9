/**
 * `start` holds what is seldom said about how a command is started: secrets by name, split output, the size of its stdin.
 * The stdin itself has a table of its own, so that no list reads it. `stderr` is null unless the output was split.
 */
export default `
ALTER TABLE job ADD COLUMN start TEXT;
CREATE TABLE stdin (
  job INTEGER PRIMARY KEY REFERENCES job ON DELETE CASCADE,
  bytes BLOB NOT NULL
) STRICT;
ALTER TABLE output ADD COLUMN stderr BLOB;
`;
