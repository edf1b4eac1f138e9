import type { GivenOf } from '../core/jobs/field.ts';
import type { GoneJob, State, Stream } from '../core/jobs/job.ts';
import type { JOB_FIELDS } from '../core/jobs/job-fields.ts';
import type { JobObject } from '../core/jobs/job-object.ts';
import type { WaitingReason } from '../core/jobs/waiting-reason.ts';
import type { EventObject, WorkerEventObject } from '../core/rules/events.ts';
import type { QueueInput } from '../core/rules/queue.ts';
import type { CATCH_UPS, OVERLAPS, ScheduleInput } from '../core/schedules/schedule.ts';
import type { SqlClient } from '../core/wire/sql-client.ts';
import type { AttemptObject, QueueObject, ScheduleObject } from '../core/wire/wire.ts';

/* The types of the library, which the package exports. */

export type { QueueInput } from '../core/rules/queue.ts';
export type { SqlClient } from '../core/wire/sql-client.ts';

export interface OpenOptions {
  /** The database file. The default is that of the command line. */
  db?: string | undefined;
  /** The author of changes that events record (default: user@host). */
  actor?: string | undefined;
}

/** A job to enqueue. A plain string is a shell command. */
export interface EnqueueInput extends GivenOf<typeof JOB_FIELDS> {}

export interface EnqueueOptions {
  /** Makes the call idempotent: repeating it within 24 hours returns the original jobs. Deleted ones are `gone`. */
  idempotency_key?: string | undefined;
  /**
   * Stores the job in the transaction that you have begun on your own connection to the same PostgreSQL database: a `Client` or
   * `PoolClient` of the package `pg`. The job exists if, and only if, you commit.
   */
  client?: SqlClient | undefined;
}

/** The options of an enqueue in your own transaction, without an idempotency key. */
export interface InTransaction extends EnqueueOptions {
  idempotency_key?: undefined;
  client: SqlClient;
}

/** Filters jobs. Only jobs that match all given options are listed. */
export interface ListOptions {
  state?: State | State[] | undefined;
  /** Lists jobs that wait for one of these reasons. */
  waiting_for?: WaitingReason | WaitingReason[] | undefined;
  queue?: string | undefined;
  name?: string | undefined;
  tags?: Record<string, string> | undefined;
  /** Lists jobs that were enqueued at least this long ago: seconds, or a text such as `2h`. */
  older_than?: number | string | undefined;
  /** Lists jobs whose last error contains this text. */
  error?: string | undefined;
  exit_code?: number | undefined;
  /** Conditions such as `attempts>3,duration>=5m`. */
  where?: string | undefined;
  /** A text to find in the id, name, command, tags or last error of the newest jobs. */
  search?: string | undefined;
  /** The maximum number of jobs. */
  limit?: number | undefined;
}

/** The time after which a call stops waiting. */
export interface TimeoutOptions {
  /** Seconds, or a text such as `30s` or `5m`. */
  timeout?: number | string | undefined;
  /** The same in milliseconds. */
  timeoutMs?: number | undefined;
}

export interface WaitOptions extends TimeoutOptions {
  /** Stops waiting when it is aborted. The call then rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}

export interface EventOptions {
  /** Yields the events after this number, instead of only new events. */
  after?: number | undefined;
  /** Ends the iteration when it is aborted. The loop then throws the reason of the signal. */
  signal?: AbortSignal | undefined;
}

export interface LogOptions {
  /** The number of the attempt (default: the last one; with `follow` also all later attempts). */
  attempt?: number | undefined;
  /** Reads only this stream, for jobs with `split_output`. */
  stream?: Stream | undefined;
  /** Reads only this many of the last lines. With `follow`, also reads all later lines. */
  lines?: number | undefined;
}

export interface FollowOptions extends LogOptions {
  follow: true;
  /** Ends the iteration when it is aborted. The loop then throws the reason of the signal. */
  signal?: AbortSignal | undefined;
}

/** How to stop workers. Without options, they finish their running jobs first. */
export interface StopOptions extends TimeoutOptions {
  /** Ends the running jobs and returns them to their queues. */
  force?: boolean | undefined;
  /** Stops at once and leaves the jobs running. The next worker on this machine takes them over. */
  leave?: boolean | undefined;
  /** Lets running jobs finish for this long. Jobs that still run are ended then, or left running if `leave` is true. */
  timeout?: number | string | undefined;
}

export interface WorkerStart {
  /** Maximum number of concurrent jobs (default: 1). */
  concurrency?: number | undefined;
  /** The queues to serve (default: all queues). */
  queues?: string[] | undefined;
  /** Stops the worker when no work is left. */
  drain?: boolean | undefined;
  /** Is called with each event of this worker. An error that it throws does not reach the worker. */
  onEvent?: ((event: WorkerEventObject) => void) | undefined;
}

export interface QueueWorker extends AsyncDisposable {
  id: string;
  /** Stops the worker and waits until it has stopped. Without options, it finishes its running jobs first. */
  stop(options?: StopOptions): Promise<void>;
  /** Resolves when the worker has stopped. Rejects if it failed. */
  done: Promise<void>;
}

/** The result of an action on jobs. */
export interface ActionResult {
  changed: string[];
  /** Ids of jobs that the action does not apply to, such as finished jobs or jobs that are not held. */
  unchanged: string[];
  /** Ids of further jobs that were cancelled, because they depended on the changed ones. Absent if there are none. */
  also_cancelled?: string[];
}

/** The methods that change jobs by id. They throw if one of the ids does not exist, and then change nothing. */
export interface JobActions {
  /**
   * Cancels waiting jobs, stops running ones and waits until their processes have ended. A job whose worker is gone and whose
   * processes are in a pid namespace that is not visible here stays `unchanged`.
   */
  cancel(...ids: string[]): Promise<ActionResult>;
  /** Keeps waiting jobs from running until they are released. */
  hold(...ids: string[]): Promise<ActionResult>;
  release(...ids: string[]): Promise<ActionResult>;
  /** Deletes jobs permanently with their output. Running jobs are left unchanged. */
  delete(...ids: string[]): Promise<ActionResult>;
}

/** Manages named queues. A queue is created by its first job or by `set`. */
export interface Queues {
  /** Returns all queues, ordered by name, with their job counts. */
  list(): Promise<QueueObject[]>;
  /** Pauses a queue. Running jobs continue. Throws if there is no such queue. */
  pause(name: string, by?: string): Promise<QueueObject>;
  resume(name: string): Promise<QueueObject>;
  /** Sets limits, which take effect immediately and apply to all workers together. */
  set(name: string, limits: QueueInput): Promise<QueueObject>;
}

export interface NewSchedule extends ScheduleInput {
  name: string;
  /** The job to enqueue at each run. A plain string is a shell command. */
  job: EnqueueInput | string;
  overlap?: (typeof OVERLAPS)[number] | undefined;
  catch_up?: (typeof CATCH_UPS)[number] | undefined;
}

/** Manages schedules. Running workers enqueue their jobs, one for each run. */
export interface Schedules {
  /** Creates a schedule. Throws if the name is already used. */
  add(schedule: NewSchedule): Promise<ScheduleObject>;
  /** Returns all schedules, ordered by name. */
  list(): Promise<ScheduleObject[]>;
  /** Removes a schedule. Its enqueued jobs stay. */
  remove(name: string): Promise<ScheduleObject>;
  pause(name: string, by?: string): Promise<ScheduleObject>;
  /** Continues with the next run. Runs missed during the pause are skipped. */
  resume(name: string): Promise<ScheduleObject>;
  /** Enqueues a job of the schedule now, even if the schedule is paused. */
  run(name: string): Promise<JobObject>;
}

export interface Queue extends JobActions, AsyncDisposable {
  /** Stores a job durably. An array is stored as a whole or not at all. */
  enqueue(job: EnqueueInput | string): Promise<JobObject>;
  enqueue(jobs: (EnqueueInput | string)[]): Promise<JobObject[]>;
  enqueue(job: EnqueueInput | string, options: InTransaction): Promise<JobObject>;
  enqueue(jobs: (EnqueueInput | string)[], options: InTransaction): Promise<JobObject[]>;
  enqueue(job: EnqueueInput | string, options: EnqueueOptions): Promise<JobObject | GoneJob>;
  enqueue(jobs: (EnqueueInput | string)[], options: EnqueueOptions): Promise<(JobObject | GoneJob)[]>;
  get(id: string): Promise<JobObject>;
  /** Returns jobs, newest first. All matches are returned unless there is a limit. */
  list(options?: ListOptions): Promise<JobObject[]>;
  counts(): Promise<Record<State, number>>;
  /** Returns dead, cancelled or failed jobs to their queues, even at-most-once jobs. Throws if one cannot be retried. Returns their ids. */
  retry(...ids: string[]): Promise<string[]>;
  queues: Queues;
  schedules: Schedules;
  /** Resolves when the job is completed, dead or cancelled. Rejects if the timeout passes first. */
  wait(id: string, options?: WaitOptions): Promise<JobObject>;
  /** Returns what the job has written so far. The text is empty if the job has not started. */
  logs(id: string, options?: LogOptions & { follow?: false | undefined }): Promise<string>;
  /** Yields what the job writes, as it is written, until the job (or the chosen attempt) ends. Waits for it to start. */
  logs(id: string, options: FollowOptions): AsyncIterable<string>;
  /** Returns the attempts of a job, oldest first. */
  attempts(id: string): Promise<AttemptObject[]>;
  /**
   * Yields each event of all processes once, in the order of the event numbers: only new events, or those after event number
   * `after`. On SQLite, that is the order of the changes. On PostgreSQL, changes that happen at the same time may be in either
   * order, but the events of one job are in the order of its changes. Ends when the queue is closed or the loop is left.
   */
  events(options?: EventOptions): AsyncIterable<EventObject>;
  /** Runs jobs in this process. Resolves when the worker is ready. */
  startWorker(options?: WorkerStart): Promise<QueueWorker>;
  /** Stops the workers of this queue, then closes the store. No other method works afterwards. */
  close(options?: StopOptions): Promise<void>;
}
