import { FROM_JOB } from './fragments.ts';

const RECORD = 'INSERT INTO event (at, kind, actor';
export const recordEvent = `${RECORD}, detail) VALUES (?, ?, ?, ?)`;
export const recordKnown = `${RECORD}, id, queue, detail) VALUES (?, ?, ?, ?, ?, ?)`;
export const recordAttemptEvent = `${RECORD}, id, queue, attempt, detail)
  SELECT ?, ?, coalesce(?, attempt.worker_id), id, queue, ordinal, ? FROM attempt CROSS JOIN job ON job.number = attempt.job
  WHERE attempt.number = ?`;
export const events = `SELECT event.number, at, kind, actor, jobs, first_job, id, queue.name AS queue, attempt, detail
  FROM event LEFT JOIN queue ON queue.number = event.queue WHERE event.number > ? ORDER BY event.number LIMIT ?`;
export const jobsOfEvent = `SELECT job.number, id, queue.name AS queue ${FROM_JOB} WHERE job.number >= ? AND job.number < ?`;
export const eventsOfJob = `SELECT event.number - iif(jobs > 1, first_job + jobs - 1 - (SELECT number FROM job WHERE id = ?), 0)
    AS number, at, kind, actor, ? AS id, queue.name AS queue, attempt, detail
  FROM event LEFT JOIN queue ON queue.number = coalesce(event.queue, (SELECT queue FROM job WHERE id = ?))
  WHERE event.number > ? AND event.number <= ? AND (event.id = ?
    OR (jobs > 1 AND (SELECT number FROM job WHERE id = ?) BETWEEN first_job AND first_job + jobs - 1))
  ORDER BY event.number DESC LIMIT ?`;
/** Reads the sequence instead of max(number), because the last event may have been pruned. */
export const lastEventNumber = "SELECT seq FROM sqlite_sequence WHERE name = 'event'";
export const firstEventFrom =
  'SELECT number - jobs + 1 AS first, at FROM event WHERE number >= ? ORDER BY number LIMIT 1';
export const oldestEvents = 'SELECT number, at, jobs FROM event WHERE number > ? ORDER BY number LIMIT ?';
export const deleteEvents = 'DELETE FROM event WHERE number <= ?';
