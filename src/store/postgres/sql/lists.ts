import { FROM_JOB, JOB } from './fragments.ts';

/** The placeholders of a range of job numbers, and further conditions, which contain no text of users. */
export interface JobRange {
  before: string;
  above: string;
  extra: string;
}

/**
 * Selects a range of an index by comparing whole rows, newest first. No other index fits such a comparison and such an order.
 * With `queue = $1 AND number < $2 ORDER BY number`, the server would read the primary key if most jobs were in that queue when
 * it last counted them, and then read all jobs of a queue that has become empty.
 */
function newestOf(columns: string[], keys: string[], { before, above, extra }: JobRange): string {
  const compared = [...columns, 'number'];
  return `(${compared}) < (${[...keys, before]}) AND (${compared}) > (${[...keys, above]})${extra}
    ORDER BY ${compared.map((column) => `${column} DESC`)}`;
}

/** Each scan selects the numbers of the newest jobs of a range by one index. The arguments are placeholders, but `limit` is literal. */
export const scans = {
  all: ({ before, above, extra }: JobRange, limit: number) =>
    `SELECT number FROM job WHERE number < ${before} AND number > ${above}${extra} ORDER BY number DESC LIMIT ${limit}`,
  byName: (range: JobRange, limit: number, name: string) =>
    `SELECT number FROM job WHERE name IS NOT NULL AND ${newestOf(['name'], [name], range)} LIMIT ${limit}`,
  /** Scans all given queues, states and phases, which are arrays of the same length. */
  byPhase: (range: JobRange, limit: number, queues: string, states: string, phases: string) =>
    `SELECT one.number FROM unnest(${queues}, ${states}, ${phases}) AS key (queue, state, phase) CROSS JOIN LATERAL (
      SELECT number FROM job
      WHERE ${newestOf(['queue', 'state', 'phase'], ['key.queue', 'key.state', 'key.phase'], range)} LIMIT ${limit}) AS one`,
  /** Scans the jobs of the given queues that are due and not ready yet. At most `mostDue` of each queue are sorted. */
  byDue: ({ before, above, extra }: JobRange, limit: number, queues: string, now: string, mostDue: number) =>
    `SELECT number FROM job WHERE number = ANY(ARRAY(SELECT due.number FROM unnest(${queues}) AS key (queue)
      CROSS JOIN LATERAL (${dueNumbers('key.queue', now, mostDue)}) AS due))
      AND number < ${before} AND number > ${above}${extra} ORDER BY number DESC LIMIT ${limit}`,
};

/** Selects jobs of a queue that are due and not ready yet, in the order of their due times. */
const dueNumbers = (queue: string, now: string, limit: number): string =>
  `SELECT number FROM job WHERE phase = 'waiting' AND queue = ${queue} AND due_at <= ${now} ORDER BY due_at LIMIT ${limit}`;
/** Counts such jobs of each of the named queues up to a limit. Queues without such a job are left out. */
export const countDue = (limit: number): string => `SELECT queue.number AS queue, count(*) AS jobs
  FROM queue CROSS JOIN LATERAL (${dueNumbers('queue.number', '$2', limit)}) AS due
  WHERE name = ANY($1) GROUP BY queue.number`;

/** Reads the jobs of a page. `numbers` selects at least as many numbers. */
export const page = (
  numbers: string,
  limit: string,
): string => `SELECT ${JOB} ${FROM_JOB} WHERE job.number = ANY(ARRAY(
  SELECT number FROM (${numbers}) AS found ORDER BY number DESC LIMIT ${limit})) ORDER BY job.number DESC`;
export const count = (numbers: string, most: string): string =>
  `SELECT count(*) AS jobs FROM (SELECT 1 FROM (${numbers}) AS found LIMIT ${most}) AS counted`;
/** Finds the number that is followed by `skipped` newer ones. */
export const scanEnd = (numbers: string, skipped: string): string =>
  `SELECT number FROM (${numbers}) AS found ORDER BY number DESC LIMIT 1 OFFSET ${skipped}`;
export const newestJobNumber = 'SELECT max(number) AS number FROM job';
export const queues = 'SELECT number, name FROM queue';
