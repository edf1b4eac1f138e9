import type { Idempotency } from '../../core/jobs/enqueue-rules.ts';
import type { Job, JobSpec } from '../../core/jobs/job.ts';
import { newJob } from '../new-rows.ts';
import { addRow, newAddedJobs } from './added-jobs.ts';
import type { Connection } from './connection.ts';
import * as sql from './sql/insert-one.ts';

/** Returns the method `insert` of a store for a command that ends soon. Most add one job. What adds others is loaded on demand. */
export const insertionOnDemand =
  (db: Connection) =>
  async <T>(
    jobs: Iterable<JobSpec>,
    now: number,
    keep?: (job: Pick<Job, 'id' | 'existing'>) => T,
    idempotency?: Idempotency,
  ): Promise<T[]> => {
    const job = idempotency === undefined ? onlyPlainJob(jobs) : null;
    if (job === null) return (await import('./insert.ts')).insertion(db)(jobs, now, keep, idempotency);
    await db.write('insert', () => insertOne(db, job, now));
    return [keep === undefined ? (newJob(job, now) as T) : keep(job)];
  };

/** Returns the job if it is the only one, and has no key, dependencies or standard input, or else null. An iterable is not read, because some can be read only once. */
function onlyPlainJob(jobs: Iterable<JobSpec>): JobSpec | null {
  if (!Array.isArray(jobs) || jobs.length !== 1) return null;
  const job: JobSpec = jobs[0];
  return job.unique === null && job.stdin === null && job.dependsOn.length === 0 ? job : null;
}

function insertOne(db: Connection, job: JobSpec, now: number): void {
  const added = newAddedJobs(db, now);
  const queued = { job, queue: added.queueNumber(job.queue) };
  added.onWritten(addRow(db.insert, sql.insertJob, queued, now), queued);
  added.count(queued.queue, job.name);
  added.end();
  db.run(sql.countAdded, queued.queue, 1);
}
