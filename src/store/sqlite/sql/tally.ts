export const kindOf = 'SELECT number FROM rollup_kind WHERE name = ? AND queue = ?';
export const labelsOfJob = "SELECT queue, coalesce(name, '') AS name FROM job WHERE number = ?";
export const nameExists = 'SELECT 1 FROM rollup_kind WHERE name = ? LIMIT 1';
export const countKinds =
  "SELECT count(*) AS pairs, count(DISTINCT name) AS names FROM rollup_kind WHERE name <> ''";
export const insertKind = 'INSERT INTO rollup_kind (name, queue) VALUES (?, ?)';
export const countJobs = `INSERT INTO rollup (tier, at, kind, enqueued, dropped) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET enqueued = enqueued + excluded.enqueued, dropped = dropped + excluded.dropped`;
