import { QueueError } from '../../core/errors.ts';
import { type Idempotency, KEY_KEPT_MS } from '../../core/jobs/enqueue-rules.ts';
import type { GoneJob, Job, JobSpec, Uniqueness } from '../../core/jobs/job.ts';
import { newJob, pushValues, type QueuedSpec } from '../new-rows.ts';
import { isPlain, pushPlainValues } from '../plain-rows.ts';
import type { SqlValue } from '../row.ts';
import { toJob } from '../rows.ts';
import { addRow, newAddedJobs } from './added-jobs.ts';
import type { Connection } from './connection.ts';
import { addDependencies } from './dependencies.ts';
import { isUniqueViolation } from './failures.ts';
import * as sql from './sql/insert.ts';
import { countAdded, insertJob } from './sql/insert-one.ts';

/** Turns a job into the value that `insert` returns for it, often only its id. */
type Keep<T> = (job: Pick<Job, 'id' | 'existing'>) => T;

/** Returns the method `insert` of the store. */
export const insertion =
  (db: Connection) =>
  <T>(jobs: Iterable<JobSpec>, now: number, keep?: Keep<T>, idempotency?: Idempotency): Promise<T[]> =>
    idempotency === undefined
      ? db.write('insert', () => insert(db, jobs, now, keep))
      : insertIdempotently(db, jobs, now, idempotency, keep);

/** Inserts jobs under an idempotency key. If the key was used before, returns the jobs of that use instead. */
async function insertIdempotently<T>(
  db: Connection,
  jobs: Iterable<JobSpec>,
  now: number,
  idempotency: Idempotency,
  keep?: Keep<T>,
): Promise<T[]> {
  let added: T[] = [];
  const earlierUse = await db.write('insert', () => {
    const answer = takeKey(db, idempotency, now);
    if (answer !== null) return answer;
    const ids: string[] = [];
    const keepId: Keep<T> = (job) => {
      ids.push(job.id);
      return keep!(job);
    };
    added = insert(db, jobs, now, keep && keepId);
    const addedIds = keep ? ids : (added as Job[]).map((job) => job.id);
    db.run(sql.storeIdsOfKey, JSON.stringify(addedIds), idempotency.key);
    return null;
  });
  if (earlierUse === null) return added;
  return db.read(() =>
    earlierUse.ids.map((id) => {
      const job = jobOfEarlierUse(db, id, earlierUse.usedAt);
      return keep ? keep(job) : (job as T);
    }),
  );
}

/**
 * Takes an idempotency key in the transaction that adds its jobs, and returns null. If the key was used before, returns the
 * ids of the jobs of that use, or throws if the body differs.
 */
function takeKey(db: Connection, { key, body }: Idempotency, now: number) {
  db.run(sql.freeExpiredKey, key, now - KEY_KEPT_MS);
  if (db.run(sql.takeKey, key, body, now) === 1) return null;
  const row = db.get(sql.useOfKey, key)!;
  if (row.body === body)
    return { ids: JSON.parse(row.ids as string) as string[], usedAt: row.used_at as number };
  throw new QueueError('key-reused', `the idempotency key '${key}' was already used for a different request`);
}

/** Returns a job of an earlier use of the key, or only its id if the job was removed. */
function jobOfEarlierUse(db: Connection, id: string, usedAt: number): Job | GoneJob {
  const row = db.get(sql.jobById, id);
  // A job that was created later is another one with the same id.
  if (row === undefined || (row.created_at as number) > usedAt) return { id, existing: true, gone: true };
  return { ...toJob(row), existing: true };
}

/** Inserts jobs inside a transaction. Returns what `keep` returns for each, or the jobs. */
export function insert<T = Job>(db: Connection, jobs: Iterable<JobSpec>, now: number, keep?: Keep<T>): T[] {
  const results: T[] = [];
  const children: { id: string; index: number }[] = [];
  const insertion = newInsertion(db, now);
  for (const job of jobs) {
    const existing = insertion.add(job);
    if (existing === null && job.dependsOn.length > 0) children.push({ id: job.id, index: results.length });
    results.push(keep === undefined ? ((existing ?? newJob(job, now)) as T) : keep(existing ?? job));
  }
  insertion.end();
  // Jobs with dependencies are read again, because some may have been unblocked, held or cancelled immediately.
  if (keep === undefined)
    for (const { id, index } of children) results[index] = toJob(db.get(sql.jobById, id)!) as T;
  return results;
}

/** Inserts jobs inside a transaction, in large batches where possible. */
export interface Insertion {
  /** Adds a job. Returns the job that has its unique key already, or null. The row may be written as late as in `end`. */
  add(job: JobSpec): Job | null;
  /** Writes the rows that are missing, and everything that is written once for all jobs. Must be called after the last job. */
  end(): void;
}

export function newInsertion(db: Connection, now: number): Insertion {
  const queues = new Map<string, { number: number; added: number }>();
  const childIds: string[] = [];
  const keyHolders = new Map<string, string>();
  const added = newAddedJobs(db, now);
  const { onWritten } = added;
  let batch: QueuedSpec[] = [];
  return {
    add(job) {
      let queue = queues.get(job.queue);
      if (queue === undefined) {
        queue = { number: added.queueNumber(job.queue), added: 0 };
        queues.set(job.queue, queue);
      }
      const queued = { job, queue: queue.number };
      const hasKeyOrStdin = job.unique !== null || job.stdin !== null;
      if (!hasKeyOrStdin) batch.push(queued);
      if (hasKeyOrStdin || batch.length === sql.JOBS_AT_ONCE[0]) {
        insertBatch(db, batch, now, onWritten);
        batch = [];
      }
      const existing = hasKeyOrStdin ? insertSeparately(db, queued, now, onWritten) : null;
      if (!hasKeyOrStdin) queue.added++;
      if (existing === null) added.count(queue.number, job.name);
      if (existing === null && job.dependsOn.length > 0) childIds.push(job.id);
      if (existing !== null && existing.id !== job.id) keyHolders.set(job.id, existing.id);
      return existing;
    },
    end() {
      insertBatch(db, batch, now, onWritten);
      added.end();
      for (const queue of queues.values()) if (queue.added > 0) db.run(countAdded, queue.number, queue.added);
      // Dependencies are added last, because a job may depend on one that comes after it.
      if (childIds.length > 0) addDependencies(db, childIds, keyHolders, now);
    },
  };
}

/** Is called with the number of each row after it was written. */
type OnWritten = (number: number, queued: QueuedSpec) => void;

function insertBatch(db: Connection, batch: QueuedSpec[], now: number, onWritten: OnWritten): void {
  let at = 0;
  for (const rows of sql.JOBS_AT_ONCE)
    for (; at + rows <= batch.length; at += rows)
      insertInOneStatement(db, batch.slice(at, at + rows), now, onWritten);
  insertOneByOne(db, batch.slice(at), now, onWritten);
}

function insertInOneStatement(db: Connection, batch: QueuedSpec[], now: number, onWritten: OnWritten): void {
  try {
    const plain = batch.every(({ job }) => isPlain(job));
    const statement = plain ? sql.insertPlainJobs(batch.length) : sql.insertJobs(batch.length);
    const values: SqlValue[] = [];
    const push = plain ? pushPlainValues : pushValues;
    for (const one of batch) push(values, one, now);
    const last = db.insert(statement, ...values);
    let number = last - batch.length;
    for (const queued of batch) onWritten(++number, queued);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    // No job of the batch was added. Inserting the jobs one by one shows which id exists.
    insertOneByOne(db, batch, now, onWritten);
  }
}

function insertOneByOne(db: Connection, batch: QueuedSpec[], now: number, onWritten: OnWritten): void {
  for (const one of batch) onWritten(addRow(db.insert, insertJob, one, now), one);
}

/** Adds a job with a unique key or a stdin. Returns the job that has the key already, or null if the new one was added. */
function insertSeparately(db: Connection, queued: QueuedSpec, now: number, onWritten: OnWritten): Job | null {
  const { job, queue } = queued;
  const existing = job.unique === null ? null : insertUnique(db, queued, job.unique, now, onWritten);
  if (job.unique === null) insertBatch(db, [queued], now, onWritten);
  // The job is counted before its bytes, which a trigger adds to the counter.
  if (existing === null) db.run(countAdded, queue, 1);
  if (existing !== null || job.stdin === null) return existing;
  const stdin = Buffer.from(job.stdin);
  db.run(sql.insertStdin, stdin, job.id);
  db.run(sql.countStdin, stdin.length, job.id);
  return null;
}

function insertUnique(
  db: Connection,
  queued: QueuedSpec,
  unique: Uniqueness,
  now: number,
  onWritten: OnWritten,
): Job | null {
  db.run(sql.freeExpiredSlot, unique.key, now);
  const until = unique.forMs === null ? null : now + unique.forMs;
  const during = unique.forMs === null ? unique.while : null;
  const added = addRow(db.run, sql.insertUniqueJob, queued, now, [unique.key, during, until, unique.key]);
  if (added === 1) onWritten(db.get(sql.insertedNumber)!.number as number, queued);
  return added === 1 ? null : { ...toJob(db.get(sql.jobBySlot, unique.key)!), existing: true };
}
