/**
 * `depends_on` is what was asked for, `dependency` what has come of it. `blockers` counts a job's open ones, so that the
 * end of a parent costs as much as it has children, whatever else waits.
 */
export default `
ALTER TABLE job ADD COLUMN depends_on TEXT;
ALTER TABLE job ADD COLUMN blockers INTEGER NOT NULL DEFAULT 0 CHECK (blockers >= 0);

CREATE TABLE dependency (
  child INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
  parent INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  wants TEXT NOT NULL CHECK (wants IN ('ok', 'any', 'notok')),
  phase TEXT NOT NULL CHECK (phase IN ('open', 'met', 'failed')),
  PRIMARY KEY (child, parent)
) STRICT, WITHOUT ROWID;
CREATE INDEX dependency_by_parent ON dependency (parent, phase);
`;
