import { FROM_JOB } from './fragments.ts';

export const logEvent = `INSERT INTO log (at, kind, actor, id, queue, attempt, detail) VALUES ($1, $2, $3, $4, $5, $6, $7)`;
/** Logs runs of enqueued jobs, and what they add to counters and figures. Each parameter has one element for each row. */
export const logEnqueued = `INSERT INTO log (at, actor, kind, jobs, first_job, id, queue, new_queue, new_state, new_bytes,
    figure, figure_at, name)
  SELECT $1, $2, kind, jobs, first_job, id, queue, new_queue, CASE WHEN new_queue IS NOT NULL THEN 'pending' END, bytes,
    CASE WHEN new_queue IS NOT NULL THEN 'enqueued' END, $3, name
  FROM unnest($4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::text[])
    WITH ORDINALITY AS given (kind, jobs, first_job, id, queue, new_queue, bytes, name, ordinal) ORDER BY ordinal`;

export const events = `SELECT event.number, at, kind, actor, jobs, first_job, id, queue.name AS queue, attempt, detail
  FROM event LEFT JOIN queue ON queue.number = event.queue WHERE event.number > $1 ORDER BY event.number LIMIT $2`;
export const jobsOfEvent = `SELECT job.number, id, queue.name AS queue ${FROM_JOB} WHERE job.number >= $1 AND job.number < $2`;
export const eventsOfJob = `SELECT event.number - CASE WHEN jobs > 1 THEN first_job + jobs - 1 - one.number ELSE 0 END AS number,
    at, kind, actor, $1 AS id, queue.name AS queue, attempt, detail
  FROM event LEFT JOIN (SELECT number, queue FROM job WHERE id = $1) AS one ON true
  LEFT JOIN queue ON queue.number = coalesce(event.queue, one.queue)
  WHERE event.number > $2 AND event.number <= $3 AND (event.id = $1
    OR (jobs > 1 AND one.number BETWEEN first_job AND first_job + jobs - 1))
  ORDER BY event.number DESC LIMIT $4`;
export const lastEventNumber = 'SELECT last FROM event_number';
export const firstEventFrom =
  'SELECT number - jobs + 1 AS first, at FROM event WHERE number >= $1 ORDER BY number LIMIT 1';
export const oldestEvents = `SELECT number, at, jobs, (SELECT last FROM event_number) AS last
  FROM event WHERE number > $1 ORDER BY number LIMIT $2`;
export const deleteEvents = 'DELETE FROM event WHERE number <= $1';
