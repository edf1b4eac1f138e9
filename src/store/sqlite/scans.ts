import { all, type JobKey, type JobScan, type Steps } from '../steps.ts';
import { SET_ASIDE } from './sql/fragments.ts';

/** The index of ready jobs has the jobs of each priority in order. With more priorities than this, all waiting jobs of a state are scanned. */
const MAX_PRIORITIES = 32;
const nextPriority = (where: string): string =>
  `(SELECT max(priority) FROM job WHERE phase = 'ready' AND ${where})`;
/** Finds the priorities of the ready jobs of queues, up to one more than MAX_PRIORITIES. */
export const readyPriorities = `WITH RECURSIVE ready (queue, priority, ordinal) AS (
    SELECT value, ${nextPriority('queue = value')}, 1 FROM json_each($1)
    UNION ALL SELECT queue, ${nextPriority('job.queue = ready.queue AND priority < ready.priority')}, ordinal + 1
    FROM ready WHERE priority IS NOT NULL AND ordinal <= ${MAX_PRIORITIES})
  SELECT queue, priority, ordinal FROM ready WHERE priority IS NOT NULL`;

type Index = Omit<JobScan, 'keys'>;
const IS_READY = "phase = 'ready' AND ";
const BY_STATE: Index = { index: 'job_by_queue', columns: ['queue', 'state'], where: '' };
const BY_PRIORITY: Index = { index: 'job_ready', columns: ['queue', 'priority'], where: IS_READY };
const BY_PHASE: Index = {
  ...{ index: 'job_set_aside', columns: ['phase', 'queue', 'state'], where: `${SET_ASIDE} AND ` },
};

export function* scansOf(keys: JobKey[]): Steps<JobScan[]> {
  const ready = keys.filter(({ phase }) => phase === 'ready');
  const queues = [...new Set(ready.map(({ queue }) => queue))];
  const priorities =
    queues.length === 0 ? [] : yield* all<{ queue: number; ordinal: number }>(readyPriorities, queues);
  const crowded = new Set(
    priorities.filter(({ ordinal }) => ordinal > MAX_PRIORITIES).map(({ queue }) => queue),
  );
  const scans: JobScan[] = [
    { ...BY_STATE, keys: keys.filter(({ phase }) => phase === undefined) },
    { ...BY_PHASE, keys: keys.filter(({ phase }) => phase !== undefined && phase !== 'ready') },
    { ...BY_PRIORITY, keys: priorities.filter(({ queue }) => !crowded.has(queue)) },
    { ...BY_STATE, where: IS_READY, keys: ready.filter(({ queue }) => crowded.has(queue)) },
  ];
  return scans.filter((scan) => scan.keys.length > 0);
}
