import { QueueError } from '../../core/errors.ts';
import { type Idempotency, KEY_KEPT_MS } from '../../core/jobs/enqueue-rules.ts';
import type { GoneJob, Job, JobSpec, Uniqueness } from '../../core/jobs/job.ts';
import { newJob, pushValues, type QueuedSpec } from '../new-rows.ts';
import { isPlain, pushPlainValues } from '../plain-rows.ts';
import type { Row, SqlValue } from '../row.ts';
import { toJob } from '../rows.ts';
import type { ServerConnection } from './connection.ts';
import { addDependencies } from './dependencies.ts';
import { newEnqueueLog } from './enqueue-log.ts';
import { isForeignKeyViolation } from './failures.ts';
import { queueNumbers } from './queue-numbers.ts';
import * as sql from './sql/jobs.ts';
import type { Transaction } from './transaction.ts';

/** Turns a job into the value that `insert` returns for it, often only its id. */
type Keep<T> = (job: Pick<Job, 'id' | 'existing'>) => T;

/** Jobs are inserted in batches of at most this many. */
const JOBS_AT_ONCE = 1000;

/** Returns the method `insert` of the store. */
export const insertion =
  (db: ServerConnection) =>
  <T>(jobs: Iterable<JobSpec>, now: number, keep?: Keep<T>, idempotency?: Idempotency): Promise<T[]> =>
    db.write(
      'insert',
      (tx) => insertJobs(tx, jobs, now, keep, idempotency),
      // A queue was removed after its number was read.
      isForeignKeyViolation,
    );

/** Does what `insert` of the store does, inside a transaction. */
export const insertJobs = <T>(
  tx: Transaction,
  jobs: Iterable<JobSpec>,
  now: number,
  keep?: Keep<T>,
  idempotency?: Idempotency,
): Promise<T[]> =>
  idempotency === undefined
    ? insert(tx, jobs, now, keep)
    : insertIdempotently(tx, jobs, now, idempotency, keep);

/** Inserts jobs under an idempotency key. If the key was used before, returns the jobs of that use instead. */
async function insertIdempotently<T>(
  tx: Transaction,
  jobs: Iterable<JobSpec>,
  now: number,
  idempotency: Idempotency,
  keep?: Keep<T>,
): Promise<T[]> {
  const earlierUse = await takeKey(tx, idempotency, now);
  if (earlierUse !== null) {
    const found = await jobsOfEarlierUse(tx, earlierUse);
    return found.map((job) => (keep ? keep(job) : (job as T)));
  }
  const ids: string[] = [];
  const keepId: Keep<T> = (job) => {
    ids.push(job.id);
    return keep!(job);
  };
  const added = await insert(tx, jobs, now, keep && keepId);
  const addedIds = keep ? ids : (added as Job[]).map((job) => job.id);
  await tx.run(sql.storeIdsOfKey, JSON.stringify(addedIds), idempotency.key);
  return added;
}

interface EarlierUse {
  ids: string[];
  usedAt: number;
}

/**
 * Takes an idempotency key in the transaction that adds its jobs, and returns null. If the key was used before, returns the
 * ids of the jobs of that use, or throws if the body differs. Waits for another transaction that is using the key.
 */
async function takeKey(tx: Transaction, { key, body }: Idempotency, now: number): Promise<EarlierUse | null> {
  for (;;) {
    await tx.run(sql.freeExpiredKey, key, now - KEY_KEPT_MS);
    if ((await tx.run(sql.takeKey, key, body, now)) === 1) return null;
    const row = await tx.get(sql.useOfKey, key);
    // The key may have been forgotten in between.
    if (row === undefined) continue;
    if (row.body === body) return { ids: JSON.parse(row.ids as string), usedAt: row.used_at as number };
    throw new QueueError(
      'key-reused',
      `the idempotency key '${key}' was already used for a different request`,
    );
  }
}

/** Returns the jobs of an earlier use of the key, or only the ids of jobs that were removed. */
async function jobsOfEarlierUse(tx: Transaction, { ids, usedAt }: EarlierUse): Promise<(Job | GoneJob)[]> {
  const rows = new Map((await tx.all(sql.jobsByIds, ids)).map((row) => [row.id, row]));
  return ids.map((id) => {
    const row = rows.get(id);
    // A job that was created later is another one with the same id.
    if (row === undefined || (row.created_at as number) > usedAt) return { id, existing: true, gone: true };
    return { ...toJob(row), existing: true };
  });
}

/** Inserts jobs inside a transaction, in large batches where possible. Returns what `keep` returns for each, or the jobs. */
export async function insert<T = Job>(
  tx: Transaction,
  jobs: Iterable<JobSpec>,
  now: number,
  keep?: Keep<T>,
): Promise<T[]> {
  const results: T[] = [];
  const children: { id: string; index: number }[] = [];
  const keyHolders = new Map<string, string>();
  const inserter = newInserter(tx, now);
  const addAll = async (batch: JobSpec[]): Promise<void> => {
    const existing = await inserter.add(batch);
    for (const job of batch) {
      const holder = existing.get(job) ?? null;
      if (holder === null && job.dependsOn.length > 0) children.push({ id: job.id, index: results.length });
      if (holder !== null && holder.id !== job.id) keyHolders.set(job.id, holder.id);
      results.push(keep === undefined ? ((holder ?? newJob(job, now)) as T) : keep(holder ?? job));
    }
  };
  let batch: JobSpec[] = [];
  for (const job of jobs) {
    batch.push(job);
    if (batch.length < JOBS_AT_ONCE) continue;
    await addAll(batch);
    batch = [];
  }
  await addAll(batch);
  await inserter.end();
  // Dependencies are added last, because a job may depend on one that comes after it.
  const childIds = children.map((child) => child.id);
  if (childIds.length > 0) await addDependencies(tx, childIds, keyHolders, now);
  // Jobs with dependencies are read again, because some may have been unblocked, held or cancelled immediately.
  if (keep === undefined && childIds.length > 0) {
    const rows = new Map((await tx.all(sql.jobsByIds, childIds)).map((row) => [row.id, row]));
    for (const { id, index } of children) results[index] = toJob(rows.get(id)!) as T;
  }
  return results;
}

/** Adds batches of jobs without their dependencies, and logs all of them at the end. */
interface Inserter {
  /** Adds jobs. Returns the job that has the unique key of each job that was not added. */
  add(jobs: JobSpec[]): Promise<Map<JobSpec, Job>>;
  end(): Promise<void>;
}

export function newInserter(tx: Transaction, now: number): Inserter {
  const queues = new Map<string, number>();
  const log = newEnqueueLog();
  /** Adds neighbours without unique keys in one statement. */
  const addBatch = async (batch: QueuedSpec[]): Promise<void> => {
    if (batch.length === 0) return;
    // The size of a stdin is in a column that plain jobs do not set.
    const plain = batch.every(({ job }) => job.stdin === null && isPlain(job));
    const push = plain ? pushPlainValues : pushValues;
    const columns = columnsOf(batch, (values, one) => push(values, one, now));
    const rows = await tx.all(plain ? sql.insertPlainJobs : sql.insertJobs, ...columns);
    await logAdded(batch, rows);
  };
  const logAdded = async (batch: QueuedSpec[], rows: Row[]): Promise<void> => {
    const numbers = new Map(rows.map((row) => [row.id as string, row.number as number]));
    if (rows.length < batch.length) refuseExisting(batch, numbers);
    const stdins = batch.flatMap(({ job }) =>
      job.stdin === null ? [] : [{ job: numbers.get(job.id)!, bytes: Buffer.from(job.stdin) }],
    );
    if (stdins.length > 0)
      await tx.run(
        sql.insertStdin,
        stdins.map((one) => one.job),
        stdins.map((one) => one.bytes),
      );
    for (const { job, queue } of batch) {
      const stdinBytes = job.stdin === null ? 0 : Buffer.byteLength(job.stdin);
      log.add({ number: numbers.get(job.id)!, id: job.id, queue, name: job.name, stdinBytes });
    }
  };
  /** Adds a job with a unique key. Returns the job that has the key already, or null if the new one was added. */
  const addUnique = async (queued: QueuedSpec, unique: Uniqueness): Promise<Job | null> => {
    const until = unique.forMs === null ? null : now + unique.forMs;
    const during = unique.forMs === null ? unique.while : null;
    const columns = columnsOf([queued], (values) => {
      pushValues(values, queued, now);
      values.push(unique.key, during, until, unique.key);
    });
    for (;;) {
      await tx.run(sql.freeExpiredSlot, unique.key, now);
      const rows = await tx.all(sql.insertUniqueJob, ...columns);
      if (rows.length === 1) {
        await logAdded([queued], rows);
        return null;
      }
      const holder = await tx.get(sql.jobBySlot, unique.key);
      if (holder !== undefined) return { ...toJob(holder), existing: true };
      if ((await tx.get(sql.jobById, queued.job.id)) !== undefined) throw jobExists(queued.job.id);
      // The job that had the key gave it up in between.
    }
  };
  return {
    async add(jobs) {
      const missing = [...new Set(jobs.map((job) => job.queue))].filter((name) => !queues.has(name));
      if (missing.length > 0)
        for (const [name, number] of await queueNumbers(tx, missing)) queues.set(name, number);
      const existing = new Map<JobSpec, Job>();
      let batch: QueuedSpec[] = [];
      for (const job of jobs) {
        const queued = { job, queue: queues.get(job.queue)! };
        if (job.unique === null) {
          batch.push(queued);
          continue;
        }
        await addBatch(batch);
        batch = [];
        const holder = await addUnique(queued, job.unique);
        if (holder !== null) existing.set(job, holder);
      }
      await addBatch(batch);
      return existing;
    },
    end: () => log.write(tx, now),
  };
}

/** Returns the values of many jobs by column. */
function columnsOf(batch: QueuedSpec[], push: (values: SqlValue[], one: QueuedSpec) => void): SqlValue[][] {
  const columns: SqlValue[][] = [];
  for (const one of batch) {
    const values: SqlValue[] = [];
    push(values, one);
    for (const [i, value] of values.entries()) {
      columns[i] ??= [];
      columns[i].push(value);
    }
  }
  return columns;
}

/** Throws for the first job that was not added, because its id exists or comes twice. */
function refuseExisting(batch: QueuedSpec[], numbers: Map<string, number>): void {
  const seen = new Set<string>();
  for (const { job } of batch) {
    if (!numbers.has(job.id) || seen.has(job.id)) throw jobExists(job.id);
    seen.add(job.id);
  }
}

function jobExists(id: string): QueueError {
  return new QueueError('job-exists', `a job with the id '${id}' already exists`);
}
