import { SET_ASIDE } from './fragments.ts';

const countSetAside = (where: string): string =>
  `(SELECT count(*) FROM job INDEXED BY job_set_aside WHERE ${SET_ASIDE} AND ${where} AND job.queue = queue.number`;
/** Selects a queue that has jobs of a phase, by its condition. */
const firstSetAside = (where: string): string =>
  `(SELECT min(queue) FROM job INDEXED BY job_set_aside WHERE ${SET_ASIDE} AND ${where})`;
/**
 * Counts the jobs that are held, blocked or not yet due. `later` includes the retries. Reads only two partial indexes. It steps over
 * one of them from queue to queue, so queues without such jobs cost nothing.
 */
export const setAsideCounts = `WITH RECURSIVE set_aside (phase, queue) AS (
  SELECT column1, ${firstSetAside('phase = column1')} FROM (VALUES ('held'), ('blocked'), ('waiting'))
  UNION ALL SELECT phase, ${firstSetAside('phase = set_aside.phase AND job.queue > set_aside.queue')}
  FROM set_aside WHERE queue IS NOT NULL)
  SELECT name, ${countSetAside("phase = 'held'")}) AS held, ${countSetAside("phase = 'blocked'")}) AS blocked,
  ${countSetAside("phase = 'waiting' AND state = 'failed'")} AND due_at > ?) AS retrying,
  (SELECT count(*) FROM job WHERE phase = 'waiting' AND job.queue = queue.number AND due_at > ?) AS later
  FROM queue WHERE number IN (SELECT queue FROM set_aside)`;
