import type { Idempotency } from '../../core/jobs/enqueue-rules.ts';
import type { Job, JobSpec } from '../../core/jobs/job.ts';
import { FIELD_COLUMN_COUNT } from '../job-columns.ts';
import { jobExists, newJob, pushValues, type QueuedSpec } from '../new-rows.ts';
import type { SqlValue } from '../row.ts';
import type { Connection } from './connection.ts';
import { isUniqueViolation } from './failures.ts';
import { newQueueBounds } from './queue-bounds.ts';
import * as sql from './sql/insert-one.ts';

/** Now and then, a single job may be the one that makes the log too long. Rows are numbered from 1 again after a fold. */
const JOBS_BEFORE_FOLD = 1000;

/**
 * Returns the method `insert` of a store for a command that ends soon. Most add one job. What adds others is loaded on demand. Calls
 * `onLongLog` if the log may have become so long that it is to be folded.
 */
export const insertionOnDemand =
  (db: Connection, onLongLog: () => void) =>
  async <T>(
    jobs: Iterable<JobSpec>,
    now: number,
    keep?: (job: Pick<Job, 'id' | 'existing'>) => T,
    idempotency?: Idempotency,
  ): Promise<T[]> => {
    const job = idempotency === undefined ? onlyPlainJob(jobs) : null;
    if (job === null) {
      onLongLog();
      const [{ insertion }, { sqliteEngine }] = await Promise.all([
        import('../parts/insert.ts'),
        import('./engine.ts'),
      ]);
      return insertion(sqliteEngine(db))(jobs, now, keep, idempotency);
    }
    const row = await db.write('insert', () => insertOne(db, job, now));
    if (row % JOBS_BEFORE_FOLD === 0) onLongLog();
    return [keep === undefined ? (newJob(job, now) as T) : keep(job)];
  };

/** Returns the job if it is the only one, and has no key, dependencies or standard input, or else null. An iterable is not read, because some can be read only once. */
function onlyPlainJob(jobs: Iterable<JobSpec>): JobSpec | null {
  if (!Array.isArray(jobs) || jobs.length !== 1) return null;
  const job: JobSpec = jobs[0];
  return job.unique === null && job.stdin === null && job.dependsOn.length === 0 ? job : null;
}

/** Returns the number of the row of the log. */
function insertOne(db: Connection, job: JobSpec, now: number): number {
  const bounds = newQueueBounds(db, now);
  const queue = bounds.queueNumber(job.queue);
  const queued = { job, queue };
  const number = addRow(db.insert, sql.insertJob, queued, now);
  bounds.add(number, queued);
  bounds.end();
  return db.insert(sql.logEnqueued, db.now(), db.actor, number, job.id, queue, now, job.name);
}

/** The number of arguments of `addRow` for a call with a few extra values. */
const MOST_ARGUMENTS = FIELD_COLUMN_COUNT + 10;

/** Adds a row by `add`, a method of the connection, and returns its result. */
export function addRow(
  add: Connection['run'] | Connection['insert'],
  statement: string,
  queued: QueuedSpec,
  now: number,
  extraValues: SqlValue[] = [],
): number {
  // An array that grows takes memory of several sizes, and a spread beside other arguments copies it once more.
  const call = new Array<SqlValue>(MOST_ARGUMENTS) as [string, ...SqlValue[]];
  call.length = 0;
  call.push(statement);
  pushValues(call, queued, now);
  for (const value of extraValues) call.push(value);
  try {
    return add(...call);
  } catch (error) {
    throw isUniqueViolation(error) ? jobExists(queued.job.id) : error;
  }
}
