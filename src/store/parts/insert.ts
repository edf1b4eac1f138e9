import { QueueError } from '../../core/errors.ts';
import { type Idempotency, KEY_KEPT_MS } from '../../core/jobs/enqueue-rules.ts';
import type { GoneJob, Job, JobSpec, Uniqueness } from '../../core/jobs/job.ts';
import { JOB_DEFAULTS } from '../../core/jobs/job-defaults.ts';
import { PLAIN_KEYS, RARE_KEYS } from '../job-columns.ts';
import { isEmpty, jobExists, newJob, type QueuedSpec } from '../new-rows.ts';
import type { SqlValue } from '../row.ts';
import { toJob } from '../rows.ts';
import { all, type Engine, get, run, type Steps, statementsOf, together } from '../steps.ts';
import { addDependencies } from './dependencies.ts';
import { newEnqueueLog } from './enqueue-log.ts';
import { queueNumbers } from './queues.ts';

/** Turns a job into the value that `insert` returns for it, often only its id. */
type Keep<T> = (job: Pick<Job, 'id' | 'existing'>) => T;

/** Jobs are inserted in batches of at most this many. */
const JOBS_AT_ONCE = 1000;

export const insertStatements = statementsOf(({ selectJob, isOneOf }) => ({
  freeExpiredKey: 'DELETE FROM idempotency WHERE key = $1 AND used_at <= $2',
  takeKey: 'INSERT INTO idempotency (key, body, used_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
  storeIdsOfKey: 'UPDATE idempotency SET ids = $1 WHERE key = $2',
  useOfKey: 'SELECT body, used_at AS "usedAt", ids FROM idempotency WHERE key = $1',
  jobsByIds: `${selectJob} WHERE ${isOneOf('id', '$1')}`,
  jobBySlot: `${selectJob} WHERE unique_slot = $1`,
  freeExpiredSlot: 'UPDATE job SET unique_slot = NULL WHERE unique_slot = $1 AND unique_until <= $2',
  insertStdin: 'INSERT INTO stdin (job, bytes) VALUES ($1, $2)',
  countStdin: 'UPDATE job SET bytes = $1 WHERE number = $2',
}));

/** Returns the method `insert` of the store. */
export const insertion =
  (db: Engine) =>
  <T>(jobs: Iterable<JobSpec>, now: number, keep?: Keep<T>, idempotency?: Idempotency): Promise<T[]> =>
    // A queue may be removed after its number was read.
    db.write('insert', () => insertJobs(db, jobs, now, keep, idempotency), { repeatsAfter: 'foreign-key' });

/** Does what `insert` of the store does, inside a transaction. */
export function* insertJobs<T>(
  db: Engine,
  jobs: Iterable<JobSpec>,
  now: number,
  keep?: Keep<T>,
  idempotency?: Idempotency,
): Steps<T[]> {
  if (idempotency === undefined) return yield* insert(db, jobs, now, keep);
  const earlierUse = yield* takeKey(db, idempotency, now);
  if (earlierUse !== null) {
    const found = yield* jobsOfEarlierUse(db, earlierUse);
    return found.map((job) => (keep ? keep(job) : (job as T)));
  }
  const ids: string[] = [];
  const keepId: Keep<T> = (job) => {
    ids.push(job.id);
    return keep!(job);
  };
  const added = yield* insert(db, jobs, now, keep && keepId);
  const addedIds = keep ? ids : (added as Job[]).map((job) => job.id);
  yield* run(insertStatements(db.dialect).storeIdsOfKey, JSON.stringify(addedIds), idempotency.key);
  return added;
}

/** A row of `idempotency`. */
interface KeyUse {
  body: string;
  usedAt: number;
  /** The ids of the jobs, as JSON. */
  ids: string;
}

/**
 * Takes an idempotency key in the transaction that adds its jobs, and returns null. If the key was used before, returns that use, or
 * throws if the body differs. Waits for another transaction that is using the key.
 */
function* takeKey({ dialect }: Engine, { key, body }: Idempotency, now: number): Steps<KeyUse | null> {
  const sql = insertStatements(dialect);
  for (;;) {
    yield* run(sql.freeExpiredKey, key, now - KEY_KEPT_MS);
    if ((yield* run(sql.takeKey, key, body, now)) === 1) return null;
    const use = yield* get<KeyUse>(sql.useOfKey, key);
    // The key may have been forgotten in between.
    if (use === undefined) continue;
    if (use.body === body) return use;
    throw new QueueError(
      'key-reused',
      `the idempotency key '${key}' was already used for a different request`,
    );
  }
}

/** Returns the jobs of an earlier use of a key, or only the ids of jobs that were removed. */
function* jobsOfEarlierUse({ dialect }: Engine, { ids, usedAt }: KeyUse): Steps<(Job | GoneJob)[]> {
  const wanted: string[] = JSON.parse(ids);
  const rows = yield* all(insertStatements(dialect).jobsByIds, wanted);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return wanted.map((id) => {
    const row = byId.get(id);
    // A job that was created later is another one with the same id.
    if (row === undefined || (row.created_at as number) > usedAt) return { id, existing: true, gone: true };
    return { ...toJob(row), existing: true };
  });
}

/** Inserts jobs inside a transaction, in large batches where possible. Returns what `keep` returns for each, or the jobs. */
export function* insert<T = Job>(
  db: Engine,
  jobs: Iterable<JobSpec>,
  now: number,
  keep?: Keep<T>,
): Steps<T[]> {
  const results: T[] = [];
  const children: { id: string; index: number }[] = [];
  const keyHolders = new Map<string, string>();
  const inserter = newInserter(db, now);
  function* addAll(batch: JobSpec[]): Steps<void> {
    const existing = yield* inserter.add(batch);
    for (const job of batch) {
      const holder = existing.get(job) ?? null;
      if (holder === null && job.dependsOn.length > 0) children.push({ id: job.id, index: results.length });
      if (holder !== null && holder.id !== job.id) keyHolders.set(job.id, holder.id);
      results.push(keep === undefined ? ((holder ?? newJob(job, now)) as T) : keep(holder ?? job));
    }
  }
  let batch: JobSpec[] = [];
  for (const job of jobs) {
    batch.push(job);
    if (batch.length < JOBS_AT_ONCE) continue;
    yield* addAll(batch);
    batch = [];
  }
  yield* addAll(batch);
  yield* inserter.end();
  // Dependencies are added last, because a job may depend on one that comes after it.
  const childIds = children.map((child) => child.id);
  if (childIds.length > 0) yield* addDependencies(db, childIds, keyHolders, now);
  // Jobs with dependencies are read again, because some may have been unblocked, held or cancelled immediately.
  if (keep === undefined && childIds.length > 0) {
    const rows = yield* all(insertStatements(db.dialect).jobsByIds, childIds);
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const { id, index } of children) results[index] = toJob(byId.get(id)!) as T;
  }
  return results;
}

/** Inserts jobs in large batches. It adds no dependencies. */
export interface Inserter {
  /** Adds jobs. Returns the job that has the unique key of each job that was not added. */
  add(jobs: JobSpec[]): Steps<Map<JobSpec, Job>>;
  /** Must be called after the last job. */
  end(): Steps<void>;
}

export function newInserter(db: Engine, now: number): Inserter {
  const queues = new Map<string, number>();
  const log = newEnqueueLog();
  function* addBatch(batch: QueuedSpec[]): Steps<void> {
    if (batch.length > 0) yield* logAdded(batch, yield* db.insertRows(batch, now));
  }
  function* logAdded(batch: QueuedSpec[], numbers: (number | undefined)[]): Steps<void> {
    const stdins: Steps<number>[] = [];
    for (let i = 0; i < batch.length; i++) {
      const number = numbers[i]!;
      const { stdin } = batch[i]!.job;
      log.add(number, batch[i]!);
      if (stdin !== null) stdins.push(...storeStdin(db, number, Buffer.from(stdin)));
    }
    if (stdins.length > 0) yield* together(...stdins);
  }
  /** Adds a job with a unique key. Returns the job that has the key already, or null if the new one was added. */
  function* addUnique(queued: QueuedSpec, { key }: Uniqueness): Steps<Job | null> {
    const sql = insertStatements(db.dialect);
    for (;;) {
      yield* run(sql.freeExpiredSlot, key, now);
      const numbers = yield* db.insertRows([queued], now);
      if (numbers[0] !== undefined) {
        yield* logAdded([queued], numbers);
        return null;
      }
      const holder = yield* get(sql.jobBySlot, key);
      if (holder !== undefined) return { ...toJob(holder), existing: true };
      const { id } = queued.job;
      if ((yield* get(sql.jobsByIds, [id])) !== undefined) throw jobExists(id);
      // The job that had the key gave it up in between.
    }
  }
  return {
    *add(jobs): Steps<Map<JobSpec, Job>> {
      const missing = new Set<string>();
      for (const { queue } of jobs) if (!queues.has(queue)) missing.add(queue);
      if (missing.size > 0)
        for (const [name, number] of yield* queueNumbers(db, [...missing])) queues.set(name, number);
      const existing = new Map<JobSpec, Job>();
      let batch: QueuedSpec[] = [];
      for (const job of jobs) {
        const queued = { job, queue: queues.get(job.queue)! };
        if (job.unique === null) {
          batch.push(queued);
          continue;
        }
        yield* addBatch(batch);
        batch = [];
        const holder = yield* addUnique(queued, job.unique);
        if (holder !== null) existing.set(job, holder);
      }
      yield* addBatch(batch);
      return existing;
    },
    end: () => log.write(db, now),
  };
}

/** Stores the stdin of a job, and its size as the bytes of the job. */
function storeStdin({ dialect }: Engine, job: number, bytes: Uint8Array): Steps<number>[] {
  const sql = insertStatements(dialect);
  return [run(sql.insertStdin, job, bytes), run(sql.countStdin, bytes.length, job)];
}

/** The defaults of RARE_KEYS, in the same order. */
const RARE_DEFAULTS = RARE_KEYS.map((key) => JOB_DEFAULTS[key]);

/** Tells whether the job sets none of the fields that sql.insertPlainJobs leaves out. */
export function isPlain(job: JobSpec): boolean {
  if (job.hold) return false;
  for (let i = 0; i < RARE_KEYS.length; i++) {
    const value = job[RARE_KEYS[i] as keyof JobSpec];
    if (value !== RARE_DEFAULTS[i] && !isEmpty(value)) return false;
  }
  return true;
}

/** Adds the values of sql.insertPlainJobs, without creating an array for each of many jobs. */
export function pushPlainValues(values: SqlValue[], { job, queue }: QueuedSpec, now: number): void {
  values.push(queue);
  for (let i = 0; i < PLAIN_KEYS.length; i++)
    values.push((job as unknown as Record<string, SqlValue>)[PLAIN_KEYS[i]!]!);
  values.push(now, now, now);
}
