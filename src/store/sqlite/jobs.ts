import type { SQLInputValue } from 'node:sqlite';
import { QueueError } from '../../core/errors.ts';
import type { Idempotency } from '../../core/idempotency.ts';
import type { Job, JobSpec, State, Uniqueness } from '../../core/job.ts';
import type { Store } from '../store.ts';
import type { Connection, Row } from './connection.ts';
import { connect, dependenciesOf } from './dependencies.ts';
import { enqueuedLog } from './events.ts';
import { isUniqueViolation } from './failures.ts';
import { answeredJob, keepAnswer, takeKey } from './idempotency.ts';
import { count, list, reach } from './lists.ts';
import { queueNumber } from './queues.ts';
import { tally } from './rollups.ts';
import { type StartColumn, toAttempt, toJob } from './rows.ts';
import * as sql from './sql.ts';

type JobVerbs = Pick<
  Store,
  | 'insert'
  | 'get'
  | 'list'
  | 'reach'
  | 'count'
  | 'startingWith'
  | 'counts'
  | 'attempts'
  | 'dependencies'
  | 'cutOff'
  | 'stdin'
  | 'output'
  | 'needsPlace'
>;

export function jobVerbs(db: Connection): JobVerbs {
  return {
    insert: <T>(jobs: Iterable<JobSpec>, now: number, keep?: Keep<T>, once?: Idempotency) =>
      once === undefined
        ? db.write('insert', () => insert(db, jobs, now, keep))
        : insertOnce(db, jobs, now, once, keep),
    get: (id) => db.read(() => maybe(db.get(sql.jobById, id), toJob)),
    startingWith: (prefix, limit) => db.read(() => startingWith(db, prefix, limit)),
    list: (filter, page) => db.read(() => list(db, filter, page)),
    reach: (filter, many, before) => db.read(() => reach(db, filter, many, before)),
    count: (filter, most, page) => db.read(() => count(db, filter, most, page)),
    counts: () =>
      db.read(() =>
        db.all(sql.counts).map((row) => ({
          queue: row.queue as string,
          state: row.state as State,
          jobs: row.jobs as number,
        })),
      ),
    attempts: (id) => db.read(() => db.all(sql.attemptsOfJob, id).map(toAttempt)),
    dependencies: (id) => db.read(() => dependenciesOf(db, id)),
    cutOff: (id) => db.read(() => db.all(sql.cutOff, id, id).map((row) => row.id as string)),
    stdin: (id) =>
      db.read(() =>
        maybe(db.get(sql.stdinOfJob, id), (row) => Buffer.from(row.bytes as Uint8Array).toString()),
      ),
    output: (attempt, stream) =>
      db.read(() =>
        maybe(
          db.get(sql.outputOfAttempt, attempt),
          (row) => (stream === 'stderr' ? row.stderr : row.bytes) as Uint8Array | null,
        ),
      ),
    needsPlace: (attempt) => db.read(() => db.get(sql.attemptNeedsPlace, attempt) !== undefined),
  };
}

function maybe<T>(row: Row | undefined, map: (row: Row) => T): T | null {
  return row === undefined ? null : map(row);
}

/** What is kept of each job: often no more than its id. */
type Keep<T> = (job: Pick<Job, 'id' | 'existing'>) => T;

async function insertOnce<T>(
  db: Connection,
  jobs: Iterable<JobSpec>,
  now: number,
  once: Idempotency,
  keep?: Keep<T>,
): Promise<T[]> {
  let added: T[] = [];
  const before = await db.write('insert', () => {
    const answer = takeKey(db, once, now);
    if (answer !== null) return answer;
    const ids: string[] = [];
    const noting: Keep<T> = (job) => {
      ids.push(job.id);
      return keep!(job);
    };
    added = insert(db, jobs, now, keep && noting);
    keepAnswer(db, once, keep ? ids : (added as Job[]).map((job) => job.id));
    return null;
  });
  if (before === null) return added;
  return db.read(() =>
    before.ids.map((id) => {
      const job = answeredJob(db, id, before.usedAt);
      return keep ? keep(job) : (job as T);
    }),
  );
}

export function insert<T = Job>(db: Connection, jobs: Iterable<JobSpec>, now: number, keep?: Keep<T>): T[] {
  const kept: T[] = [];
  const queues = new Map<string, { number: number; added: number }>();
  const children: { id: string; at: number }[] = [];
  const standIns = new Map<string, string>();
  const log = enqueuedLog(db);
  const figures = tally(db);
  let rows: SQLInputValue[][] = [];
  for (const job of jobs) {
    let queue = queues.get(job.queue);
    if (queue === undefined) {
      queue = { number: queueNumber(db, job.queue), added: 0 };
      queues.set(job.queue, queue);
    }
    const row = jobRow(job, queue.number, now);
    const alone = job.unique !== null || job.stdin !== null;
    if (!alone) rows.push(row);
    if (alone || rows.length === sql.JOBS_AT_ONCE) {
      insertRows(db, rows, log);
      rows = [];
    }
    const existing = alone ? insertAlone(db, job, row, now, log) : null;
    if (!alone) queue.added++;
    if (existing === null) figures.enqueued(queue.number, job.name);
    if (existing === null && job.dependsOn.length > 0) children.push({ id: job.id, at: kept.length });
    if (existing !== null && existing.id !== job.id) standIns.set(job.id, existing.id);
    kept.push(keep === undefined ? ((existing ?? newJob(job, now)) as T) : keep(existing ?? job));
  }
  insertRows(db, rows, log);
  log.end();
  figures.write(now);
  for (const { number, added } of queues.values()) if (added > 0) db.run(sql.countAdded, number, added);
  // Only now, as a job may wait for one that comes after it. Some may have been unblocked, or cancelled, at once.
  if (children.length > 0) {
    const ids = children.map((child) => child.id);
    connect(db, ids, standIns, now);
    if (keep === undefined)
      for (const { id, at } of children) kept[at] = toJob(db.get(sql.jobById, id)!) as T;
  }
  return kept;
}

type Log = ReturnType<typeof enqueuedLog>;

function insertRows(db: Connection, rows: SQLInputValue[][], log: Log): void {
  if (rows.length === sql.JOBS_AT_ONCE) {
    try {
      const last = db.lastNumber(sql.insertJobs, ...rows.flat());
      let number = last - rows.length;
      for (const row of rows) logRow(log, ++number, row);
      return;
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      // None of them was added: one by one they show which it was.
    }
  }
  for (const row of rows) {
    addRow(db, sql.insertJob, row);
    logRow(log, db.get(sql.insertedNumber)!.number as number, row);
  }
}

function logRow(log: Log, number: number, row: SQLInputValue[]): void {
  log.add(number, row[0] as string, row[3] as number);
}

function addRow(db: Connection, statement: string, row: SQLInputValue[]): number {
  try {
    return db.run(statement, ...row);
  } catch (error) {
    if (isUniqueViolation(error))
      throw new QueueError('job-exists', `a job with the id '${row[0]}' exists already`);
    throw error;
  }
}

/** Answers the job that has its unique key already; null: it was added, with its stdin. */
function insertAlone(db: Connection, job: JobSpec, row: SQLInputValue[], now: number, log: Log): Job | null {
  const existing = job.unique === null ? null : insertUnique(db, row, job.unique, now, log);
  if (job.unique === null) insertRows(db, [row], log);
  // Before its bytes are: they are counted as a change of what is counted.
  if (existing === null) db.run(sql.countAdded, row[3] as number, 1);
  if (existing !== null || job.stdin === null) return existing;
  const stdin = Buffer.from(job.stdin);
  db.run(sql.insertStdin, stdin, job.id);
  db.run(sql.countStdin, stdin.length, job.id);
  return null;
}

/** Answers the job that has the key already; null: the new one was added. */
function insertUnique(
  db: Connection,
  row: SQLInputValue[],
  unique: Uniqueness,
  now: number,
  log: Log,
): Job | null {
  db.run(sql.freeSlot, unique.key, now);
  const until = unique.forMs === null ? null : now + unique.forMs;
  const during = unique.forMs === null ? unique.while : null;
  const added = addRow(db, sql.insertUniqueJob, [...row, unique.key, during, until, unique.key]);
  if (added === 1) logRow(log, db.get(sql.insertedNumber)!.number as number, row);
  return added === 1 ? null : { ...toJob(db.get(sql.jobBySlot, unique.key)!), existing: true };
}

/** The values of sql.insertJob. */
function jobRow(job: JobSpec, queue: number, now: number): SQLInputValue[] {
  const due = job.runAt ?? now;
  const parents = job.dependsOn.length;
  return [
    ...[job.id, job.command, job.argv === null ? null : JSON.stringify(job.argv), queue],
    ...[job.priority, job.maxRetries, job.timeoutMs, job.runAt, job.backoffBase],
    ...[
      job.cwd,
      jsonOrNull(job.env),
      jsonOrNull(job.tags),
      job.name,
      jsonOrNull(job.hooks),
      jsonOrNull(job.policy),
      jsonOrNull(startColumn(job)),
    ],
    ...[parents === 0 ? null : JSON.stringify(job.dependsOn), parents],
    ...[phaseOf(job, due, now), now, now, due],
  ];
}

function phaseOf(job: JobSpec, due: number, now: number): string {
  if (job.dependsOn.length > 0) return 'blocked';
  return due > now ? 'waiting' : 'ready';
}

function startColumn({ secretEnv, splitOutput, stdin }: JobSpec): StartColumn {
  return {
    ...(secretEnv.length === 0 ? {} : { secretEnv }),
    ...(splitOutput ? { splitOutput } : {}),
    ...(stdin === null ? {} : { stdinBytes: Buffer.byteLength(stdin) }),
  };
}

function jsonOrNull(object: object): string | null {
  for (const _ in object) return JSON.stringify(object);
  return null;
}

/** What was written just now, without reading it back. */
function newJob(spec: JobSpec, now: number): Job {
  return {
    ...spec,
    stdinBytes: Buffer.byteLength(spec.stdin ?? ''),
    state: 'pending',
    held: false,
    blocked: spec.dependsOn.length > 0,
    attempts: 0,
    crashes: 0,
    createdAt: now,
    updatedAt: now,
    dueAt: spec.runAt ?? now,
    workerId: null,
    startedAt: null,
    finishedAt: null,
    exitCode: null,
    lastError: null,
    durationMs: null,
  };
}

/** Greater than every id that begins so: ids hold no such character. */
const BEYOND = '\u{10ffff}';

function startingWith(db: Connection, prefix: string, limit: number): string[] {
  const exact = db.get(sql.jobById, prefix);
  if (exact !== undefined) return [exact.id as string];
  return db.all(sql.startingWith, prefix, prefix + BEYOND, limit).map((row) => row.id as string);
}
