/**
 * Finds, for each queue, since when its oldest due job has been waiting. Jobs that were due when they were enqueued
 * (`fresh`) are in order, so the first one of each priority is the oldest. Jobs that became due later (`late`) have an index
 * of their own, which costs new jobs nothing. Jobs that are due but not yet ready are `due`.
 */
export const oldestWaiting = `WITH RECURSIVE level (queue, priority) AS (
  SELECT number, (SELECT max(priority) FROM job WHERE phase = 'ready' AND job.queue = queue.number) FROM queue
  UNION ALL
  SELECT queue, (SELECT max(priority) FROM job WHERE phase = 'ready' AND job.queue = level.queue AND job.priority < level.priority)
  FROM level WHERE level.priority IS NOT NULL)
  SELECT queue.number, name,
  min((SELECT created_at FROM job WHERE phase = 'ready' AND job.queue = level.queue AND job.priority = level.priority
    AND due_at <= created_at ORDER BY job.number LIMIT 1)) AS fresh,
  (SELECT min(due_at) FROM job WHERE phase = 'ready' AND due_at > created_at AND job.queue = queue.number) AS late,
  (SELECT min(due_at) FROM job WHERE phase = 'waiting' AND job.queue = queue.number) AS due
  FROM level CROSS JOIN queue ON queue.number = level.queue
  GROUP BY queue.number ORDER BY name`;
