import type { SQLInputValue } from 'node:sqlite';
import { QueueError } from '../../core/errors.ts';
import type { JobFilter } from '../../core/filter.ts';
import { type Job, type JobSpec, STATES, type State, type Uniqueness } from '../../core/job.ts';
import type { ListedJob, Page, Store } from '../store.ts';
import type { Connection, Row } from './connection.ts';
import { isUniqueViolation } from './failures.ts';
import { filterSql } from './filter.ts';
import { queueNumber } from './queues.ts';
import { toAttempt, toJob, toListedJob } from './rows.ts';
import * as sql from './sql.ts';

type JobVerbs = Pick<
  Store,
  'insert' | 'get' | 'list' | 'startingWith' | 'counts' | 'attempts' | 'output' | 'needsPlace'
>;

export function jobVerbs(db: Connection): JobVerbs {
  return {
    insert: (jobs, now, keep) => db.write('insert', () => insert(db, jobs, now, keep)),
    get: (id) => db.read(() => maybe(db.get(sql.jobById, id), toJob)),
    startingWith: (prefix, limit) => db.read(() => startingWith(db, prefix, limit)),
    list: (filter, page) => db.read(() => list(db, filter, page)),
    counts: () =>
      db.read(() =>
        db.all(sql.counts).map((row) => ({
          queue: row.queue as string,
          state: row.state as State,
          jobs: row.jobs as number,
        })),
      ),
    attempts: (id) => db.read(() => db.all(sql.attemptsOfJob, id).map(toAttempt)),
    output: (attempt) =>
      db.read(() => maybe(db.get(sql.outputOfAttempt, attempt), (row) => row.bytes as Uint8Array)),
    needsPlace: (attempt) => db.read(() => db.get(sql.attemptNeedsPlace, attempt) !== undefined),
  };
}

function maybe<T>(row: Row | undefined, map: (row: Row) => T): T | null {
  return row === undefined ? null : map(row);
}

export function insert<T = Job>(
  db: Connection,
  jobs: Iterable<JobSpec>,
  now: number,
  keep?: (job: Job) => T,
): T[] {
  const kept: T[] = [];
  const queues = new Map<string, number>();
  let rows: SQLInputValue[][] = [];
  for (const job of jobs) {
    if (!queues.has(job.queue)) queues.set(job.queue, queueNumber(db, job.queue));
    const row = jobRow(job, queues.get(job.queue)!, now);
    if (job.unique === null) rows.push(row);
    if (job.unique !== null || rows.length === sql.JOBS_AT_ONCE) {
      insertRows(db, rows);
      rows = [];
    }
    const added = (job.unique === null ? null : insertUnique(db, row, job.unique, now)) ?? newJob(job, now);
    kept.push(keep === undefined ? (added as T) : keep(added));
  }
  insertRows(db, rows);
  return kept;
}

function insertRows(db: Connection, rows: SQLInputValue[][]): void {
  if (rows.length === sql.JOBS_AT_ONCE) {
    try {
      db.run(sql.insertJobs, ...rows.flat());
      return;
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      // None of them was added: one by one they show which it was.
    }
  }
  for (const row of rows) addRow(db, sql.insertJob, row);
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

/** Answers the job that has the key already; null: the new one was added. */
function insertUnique(db: Connection, row: SQLInputValue[], unique: Uniqueness, now: number): Job | null {
  db.run(sql.freeSlot, unique.key, now);
  const until = unique.forMs === null ? null : now + unique.forMs;
  const during = unique.forMs === null ? unique.while : null;
  const added = addRow(db, sql.insertUniqueJob, [...row, unique.key, during, until, unique.key]);
  return added === 1 ? null : { ...toJob(db.get(sql.jobBySlot, unique.key)!), existing: true };
}

/** The values of sql.insertJob. */
function jobRow(job: JobSpec, queue: number, now: number): SQLInputValue[] {
  const due = job.runAt ?? now;
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
    ],
    ...[due > now ? 'waiting' : 'ready', now, now, due],
  ];
}

function jsonOrNull(object: object): string | null {
  return Object.keys(object).length === 0 ? null : JSON.stringify(object);
}

/** What was written just now, without reading it back. */
function newJob(spec: JobSpec, now: number): Job {
  return {
    ...spec,
    state: 'pending',
    held: false,
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

/** Each state is read from its own index; several are merged, so the cost stays that of the page. */
function list(db: Connection, filter: JobFilter, page: Page): ListedJob[] {
  const before = page.before ?? Number.MAX_SAFE_INTEGER;
  const { text, values } = filterSql(filter);
  const queue = filter.queue === undefined ? undefined : db.get(sql.queueNumber, filter.queue);
  if (filter.queue !== undefined && queue === undefined) return [];
  if (queue === undefined && !filter.states?.length) {
    return db.all(sql.list.all(text), before, ...values, page.limit).map(toListedJob);
  }
  const states = filter.states?.length ? [...new Set(filter.states)] : STATES;
  const rows = states.flatMap((state) =>
    queue === undefined
      ? db.all(sql.list.byState(text), state, before, ...values, page.limit)
      : db.all(sql.list.byQueueAndState(text), queue.number as number, state, before, ...values, page.limit),
  );
  if (states.length > 1) rows.sort((a, b) => (b.number as number) - (a.number as number));
  return rows.slice(0, page.limit).map(toListedJob);
}

/** Greater than every id that begins so: ids hold no such character. */
const BEYOND = '\u{10ffff}';

function startingWith(db: Connection, prefix: string, limit: number): string[] {
  const exact = db.get(sql.jobById, prefix);
  if (exact !== undefined) return [exact.id as string];
  return db.all(sql.startingWith, prefix, prefix + BEYOND, limit).map((row) => row.id as string);
}
