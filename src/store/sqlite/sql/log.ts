const EVENT = 'at, kind, actor, id, queue';
const MOVE = 'old_queue, old_state, old_bytes, new_queue, new_state, new_bytes';

/** Logs the change of a job. */
export const logChange = `INSERT INTO log (${EVENT}, detail, ${MOVE}, figure, figure_at, name)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
/** Logs the start of an attempt, after the job was changed. */
export const logStart = `INSERT INTO log (${EVENT}, attempt, ${MOVE})
  SELECT ?, 'started', job.worker_id, id, queue, ordinal, queue, coalesce(job_before ->> 'state', 'pending'), bytes,
    queue, 'processing', bytes
  FROM attempt CROSS JOIN job ON job.number = attempt.job WHERE attempt.number = ?`;
/** Logs the end of an attempt, after the job was changed. ?5 is what the attempt has added to its bytes. */
export const logEnd = `INSERT INTO log (${EVENT}, attempt, detail, ${MOVE}, figure, figure_at, name, wait_ms, run_ms)
  SELECT ?1, ?2, coalesce(?3, attempt.worker_id), id, queue, ordinal, ?4, queue, 'processing', bytes - ?5, queue, state, bytes,
    ?6, ?7, name, ?8, ?9
  FROM job LEFT JOIN attempt ON attempt.number = ?10 WHERE job.number = ?11`;
