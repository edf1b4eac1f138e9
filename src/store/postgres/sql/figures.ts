const highestPriority = (queue: string, below = ''): string =>
  `(SELECT priority FROM job WHERE phase = 'ready' AND job.queue = ${queue}${below} ORDER BY priority DESC LIMIT 1)`;
/**
 * Finds, for each queue, since when its oldest due job has been waiting. Jobs that were due when they were enqueued
 * (`fresh`) are in order, so the first one of each priority is the oldest. Jobs that became due later (`late`) have an index
 * of their own, which costs new jobs nothing. Jobs that are due but not yet ready are `due`.
 */
export const oldestWaiting = `WITH RECURSIVE level (queue, priority) AS (
    SELECT number, ${highestPriority('queue.number')} FROM queue
    UNION ALL
    SELECT queue, ${highestPriority('level.queue', ' AND priority < level.priority')} FROM level WHERE priority IS NOT NULL),
  fresh (queue, at) AS (SELECT level.queue, min(first.created_at) FROM level CROSS JOIN LATERAL (
      SELECT created_at FROM job WHERE phase = 'ready' AND job.queue = ANY(ARRAY[level.queue]) AND job.priority = level.priority
      AND due_at <= created_at ORDER BY job.queue, job.priority DESC, number LIMIT 1) AS first GROUP BY level.queue)
  SELECT number, name, fresh.at AS fresh,
    (SELECT min(due_at) FROM job WHERE phase = 'ready' AND due_at > created_at AND job.queue = queue.number) AS late,
    (SELECT min(due_at) FROM job WHERE phase = 'waiting' AND job.queue = queue.number) AS due
  FROM queue LEFT JOIN fresh ON fresh.queue = queue.number ORDER BY name`;
