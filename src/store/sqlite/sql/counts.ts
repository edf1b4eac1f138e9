import { STATES } from '../../../core/job.ts';
import { SET_ASIDE } from './fragments.ts';

export const counts =
  'SELECT queue.name AS queue, state, jobs FROM counter JOIN queue ON queue.number = counter.queue WHERE jobs > 0';
export const countsOfQueues = `SELECT queue.name AS queue, state, jobs FROM queue CROSS JOIN counter ON counter.queue = queue.number
  WHERE jobs > 0 AND name IN (SELECT value FROM json_each(?))`;
export const placedCounts = `SELECT queue.name AS queue, runs_on AS runsOn, count(*) AS jobs FROM job
  CROSS JOIN queue ON queue.number = job.queue WHERE phase = 'ready' AND runs_on IS NOT NULL GROUP BY runs_on, job.queue`;
/** Adds up the counters of each state in one scan. */
export const stateCounts = `SELECT ${STATES.map((state) => `coalesce(sum(iif(state = '${state}', jobs, 0)), 0) AS ${state}`).join(', ')} FROM counter`;
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
