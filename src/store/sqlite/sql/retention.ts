export const totalsOfState =
  'SELECT coalesce(sum(jobs), 0) AS jobs, coalesce(sum(bytes), 0) AS bytes FROM counter WHERE state = ?';
export const endedJobs = `SELECT number, finished_at AS finishedAt, bytes, runs + coalesce(json_array_length(depends_on), 0) AS ownedRows,
  coalesce(start ->> 'stdinBytes', 0) AS stdinBytes FROM job
  WHERE phase = 'ended' AND state = ? AND (finished_at, number) > (?, ?) ORDER BY finished_at, number LIMIT ?`;
/** Finds the attempts of a job whose output is in a file. */
export const attemptsWithFile = `SELECT number FROM attempt WHERE job = ? AND output_bytes > 0
  AND NOT EXISTS (SELECT 1 FROM output WHERE output.attempt = attempt.number)`;
export const deleteEnded = "DELETE FROM job WHERE number = ? AND phase = 'ended'";
export const anyOldKey = 'SELECT 1 FROM idempotency WHERE used_at <= ? LIMIT 1';
export const deleteOldKeys = `DELETE FROM idempotency WHERE rowid IN
  (SELECT rowid FROM idempotency WHERE used_at <= ? ORDER BY used_at LIMIT ?)`;
