import type { Idempotency } from '../../core/jobs/enqueue-rules.ts';
import type { StoreFilter } from '../../core/jobs/filter.ts';
import type { Dependency, GoneJob, Job, JobSpec, State, Stream } from '../../core/jobs/job.ts';
import type { OwnReason } from '../../core/jobs/waiting-reason.ts';
import type { Outcome } from '../../core/rules/decide.ts';
import type { SqlClient } from '../../core/wire/sql-client.ts';

/** Adds jobs and reads them. Only `stdin` reads the stdin of a job. */
export interface JobStore {
  /**
   * Adds all jobs or none, in the given order. Reads `jobs` one by one, and may start again from the first. Returns the result
   * of `keep` for each job, or the jobs without `keep`. It never holds all jobs in memory, except in its result.
   *
   * - An id that exists is refused, whatever the state of its job.
   * - If a job's unique key is taken, the job that has it is returned instead, marked `existing`.
   * - A job may depend on jobs of the store or of the same batch. A missing parent and a cycle are refused. If a parent
   *   has already ended in another way than wanted, the job is cancelled, held or run, depending on its policy.
   * - If the key of `idempotency` was used within KEY_KEPT_MS, nothing is added, whatever became of its jobs. The same
   *   body returns those jobs, marked `existing`, and removed ones also `gone`. Another body is refused.
   */
  insert(jobs: Iterable<JobSpec>, now: number): Promise<Job[]>;
  insert<T = Job | GoneJob>(
    jobs: Iterable<JobSpec>,
    now: number,
    keep?: (job: Pick<Job, 'id' | 'existing'>) => T,
    idempotency?: Idempotency,
  ): Promise<T[]>;
  /**
   * Returns a function like `insert` that works in the transaction that the caller has begun on its own connection to the same
   * database. The jobs exist, and the workers are woken, if and only if the caller commits. After an error, the transaction can go
   * on as if nothing had been inserted. Is missing in a store that is not on a server.
   */
  insertOn?(client: SqlClient): JobStore['insert'];
  get(id: string): Promise<Job | null>;
  /** Returns a page of matching jobs, newest first. See `scanEnd` for the cost. */
  list(filter: StoreFilter, page: Page): Promise<ListedJob[]>;
  /** Returns dead jobs with numbers below `before`, newest first, with only the fields that describe how they failed. */
  deadJobs(limit: number, before?: number): Promise<DeadJob[]>;
  /**
   * Returns the number of the last job that a scan of `limit` jobs below number `before` reads, or 0 if it reads all. The scan
   * uses the index of the filter's name, or else of its queue, its states and the reasons of waiting jobs. It checks all other conditions job by job, so a
   * caller uses this number to limit the cost of `list` and `count`.
   */
  scanEnd(filter: StoreFilter, limit: number, before?: number): Promise<number>;
  /** Counts matching jobs up to `most`, in the whole store or between two job numbers. */
  count(filter: StoreFilter, most: number, range?: Pick<Page, 'before' | 'above'>): Promise<number>;
  /** Returns at most `limit` ids that begin with the prefix. An id that equals the prefix is returned alone. */
  idsStartingWith(prefix: string, limit: number): Promise<string[]>;
  /**
   * Returns the number of jobs by queue and state, of all queues or of those with these names. Reads counters and
   * the changes that are not yet added to them, and no jobs.
   */
  counts(queues?: string[]): Promise<QueueCount[]>;
  /** Returns the number of jobs in each state, zeros included. */
  stateCounts(): Promise<Record<State, number>>;
  /**
   * Returns the numbers of jobs that are held, blocked or not due. Queues without such jobs may be left out. The cost grows with
   * these jobs, but not with those that are ready, running or ended.
   */
  setAsideCounts(now: number): Promise<SetAsideCounts[]>;
  /** Returns every attempt of a job, oldest first. */
  attempts(id: string): Promise<Attempt[]>;
  /** Returns the state of each job that this one depends on, in the order of its `dependsOn`. */
  dependencies(id: string): Promise<ParentState[]>;
  /** Returns the first `limit` (default: all) of the jobs that depend on this one, in the order of enqueueing. */
  children(id: string, limit?: number): Promise<ChildState[]>;
  /** Counts the jobs that depend on this one, up to `most`. */
  countChildren(id: string, most: number): Promise<number>;
  /**
   * Returns the ids of the other jobs that would be cancelled if these were cancelled or deleted now. Stops after `most` of them
   * (default: all).
   */
  cancelledWith(ids: string[], end: 'cancelled' | 'deleted', most?: number): Promise<string[]>;
  /**
   * Returns the ids of jobs that were cancelled because of this one, directly or through others, and are still cancelled. This
   * job may have been retried and have ended again. With `last`, only the jobs that its last end cancelled are returned.
   */
  cancelledDueTo(id: string, ends?: 'all' | 'last'): Promise<string[]>;
  /** Returns the stdin of a job's command, or null if it has none. It is removed with its job. */
  stdin(id: string): Promise<string | null>;
  /**
   * Returns the output kept in the store, or null if it is in a file or there was none. Only split output has a stderr. The
   * store keeps both of its streams or neither.
   */
  output(attempt: number, stream?: Stream): Promise<Uint8Array | null>;
  /**
   * Returns how many bytes an ended attempt wrote, or null if its files are no longer needed. They are needed if the attempt runs, or if
   * its output is kept in files.
   */
  bytesInFiles(attempt: number): Promise<number | null>;
}

export interface Page {
  limit: number;
  /** Only jobs with a lower number are returned. */
  before?: number;
  /** Only jobs with a higher number are returned. */
  above?: number;
}

export interface ListedJob extends Job {
  /** The store's number of the job. It rises with every enqueue. */
  number: number;
}

export interface DeadJob {
  number: number;
  id: string;
  queue: string;
  name: string | null;
  error: string | null;
  /** The time at which the job ended. */
  at: number;
}

export interface QueueCount {
  queue: string;
  state: State;
  jobs: number;
}

export interface SetAsideCounts extends Record<OwnReason, number> {
  queue: string;
}

export interface Attempt {
  /** The store's number of the attempt. It is never reused. */
  number: number;
  /** Counts the attempts of the job, from 1. */
  ordinal: number;
  workerId: string;
  startedAt: number;
  finishedAt: number | null;
  durationMs: number | null;
  why: Outcome['why'] | null;
  exitCode: number | null;
  error: string | null;
  /** The number of bytes that the command wrote. While it runs, the number of those that were shared, and 0 if none were. */
  outputBytes: number;
  truncated: boolean;
  leftBehind: number[];
  /** The name of the host that has the attempt's files. Null if this host has them, and always in a store that one host uses. */
  otherHost: string | null;
  /** The path of that host's state directory, if the attempt is running or its output is in a file there. */
  otherDirectory: string | null;
}

/** A job that depends on another one. The phase is `open` while it waits for that one. */
export interface ChildState extends Dependency {
  phase: ParentState['phase'];
  state: State;
}

export interface ParentState extends Dependency {
  phase: 'open' | 'met' | 'failed';
  /** Null if the job was removed. */
  state: State | null;
}
