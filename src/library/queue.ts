import { actorOf } from '../actions/actor.ts';
import { closeApp, openApp } from '../actions/app.ts';
import { enqueue } from '../actions/enqueue.ts';
import { followEvents, lastEvent } from '../actions/events.ts';
import { addedObject, getJob, jobObject, listJobs } from '../actions/jobs.ts';
import { retry } from '../actions/retry.ts';
import { countStates } from '../actions/status.ts';
import { waitFor } from '../actions/wait.ts';
import { type EventObject, toEventObject } from '../core/event-object.ts';
import type { WorkerEvent } from '../core/events.ts';
import type { JobFilter } from '../core/filter.ts';
import type { GoneJob, State } from '../core/job.ts';
import type { JobInput } from '../core/job-fields.ts';
import { readJobObject } from '../core/job-input.ts';
import type { JobObject } from '../core/job-object.ts';
import { storeLocation } from '../store/location.ts';
import { newWorkerId, startWorker } from '../worker/worker.ts';
import { type ActingVerbs, actingVerbs } from './acting.ts';
import { type Queues, queues } from './queues.ts';
import { type Schedules, schedules } from './schedules.ts';

/** A job as `enqueue` takes it; a plain string is a shell command. */
export interface EnqueueInput {
  id?: string;
  command?: string;
  /** Run this program without a shell, instead of `command`. */
  argv?: string[];
  queue?: string;
  priority?: number | 'low' | 'normal' | 'high' | 'urgent';
  max_retries?: number;
  /** Seconds, or text such as `5m`. */
  timeout?: number | string;
  timeout_ms?: number;
  run_at?: string | number;
  /** Seconds, or text such as `10m`. */
  delay?: number | string;
  backoff_base?: number;
  cwd?: string;
  env?: Record<string, string>;
  tags?: Record<string, string>;
  /** No second job with this key while one is pending or running; the first is answered, `existing: true`. */
  unique_key?: string;
  unique_for?: number | string;
  unique_while?: 'pending' | 'active';
  /** As in EnqueueOptions; in an array the same for all. */
  idempotency_key?: string;
  /** Exit codes that are tried again, and no others: `[75]`, or text such as `64-78`. */
  retry_on?: number[] | string;
  no_retry_on?: number[] | string;
  /** Start it once: a failed, stopped or lost attempt makes it dead. `max_retries` is 1. */
  at_most_once?: boolean;
  /** Ids of jobs to wait for: until they have completed, or ended as `on` says. */
  depends_on?: (string | { id: string; on?: 'ok' | 'any' | 'notok' })[];
  /** What becomes of it when one of them ends otherwise (cancel). */
  on_parent_failure?: 'cancel' | 'hold' | 'run';
  /** How the wait between retries grows, instead of the settings; `retry_delay` is that of fixed, and the step of linear. */
  backoff?: 'exponential' | 'linear' | 'fixed';
  retry_delay?: number | string;
  backoff_max?: number | string;
  /** 0 to 1: the part of the wait that is left to chance. */
  jitter?: number;
  /** What its command reads, 1 MiB at most. */
  stdin?: string;
  /** stdout and stderr in files of their own. */
  split_output?: boolean;
  /** Names of variables that the command gets from its worker's environment; their values are never stored. */
  secret_env?: string[];
  /** Of its worker's environment only PATH, HOME and the like, and the secrets. */
  clean_env?: boolean;
  /** Commands run, as jobs of their own, after what happens to this one; `none` for none. */
  on_complete?: string;
  on_failure?: string;
  on_dead?: string;
}

export interface EnqueueOptions {
  /** Said again within a day, nothing is added and the first jobs are answered, `existing: true`; removed ones, `gone`. */
  idempotency_key?: string;
}

export interface ListOptions {
  state?: State | State[];
  queue?: string;
  limit?: number;
}

export interface WorkerStart {
  /** Jobs at a time (1). */
  concurrency?: number;
  queues?: string[];
  /** Stop by itself when nothing is left to do. */
  drain?: boolean;
  onEvent?(event: WorkerEvent): void;
}

export interface QueueWorker {
  id: string;
  /** Claims nothing more, waits for what runs; `force` ends it and puts it back. */
  stop(options?: { force?: boolean }): Promise<void>;
  /** Resolves when the worker has stopped. */
  done: Promise<void>;
}

export interface Queue extends ActingVerbs {
  /** Stores a job durably. An array is stored as a whole or not at all. */
  enqueue(job: EnqueueInput | string): Promise<JobObject>;
  enqueue(jobs: (EnqueueInput | string)[]): Promise<JobObject[]>;
  enqueue(job: EnqueueInput | string, options: EnqueueOptions): Promise<JobObject | GoneJob>;
  enqueue(jobs: (EnqueueInput | string)[], options: EnqueueOptions): Promise<(JobObject | GoneJob)[]>;
  get(id: string): Promise<JobObject>;
  /** Newest first; every match unless limited. */
  list(options?: ListOptions): Promise<JobObject[]>;
  counts(): Promise<Record<State, number>>;
  /** Puts dead, cancelled or failed jobs back in their queue, at-most-once jobs too. Returns the ids. */
  retry(...ids: string[]): Promise<string[]>;
  queues: Queues;
  schedules: Schedules;
  /** Resolves when the job is completed, dead or cancelled. */
  wait(id: string, options?: { timeoutMs?: number }): Promise<JobObject>;
  /**
   * What happens from the call on, in every process, or behind event `after`: each event once and in order. Ends with the
   * queue's close, or when the loop is left.
   */
  events(options?: { after?: number }): AsyncIterable<EventObject>;
  /** Runs jobs in this process. Resolves when the worker is ready. */
  startWorker(options?: WorkerStart): Promise<QueueWorker>;
  /** Stops the workers of this queue, then closes the store. */
  close(): Promise<void>;
}

export interface OpenOptions {
  /** The database file; default as on the command line. */
  db?: string;
  /** Who acts, as the events are to say (user@host). */
  actor?: string;
}

export async function openQueue(options: OpenOptions = {}): Promise<Queue> {
  const actor = options.actor ?? actorOf(process.env);
  const app = await openApp(storeLocation(options.db, process.env), actor, { access: 'write' });
  const closing = new AbortController();
  const workers = new Set<QueueWorker>();
  let closed = false;

  // In a program an unknown field is a bug, not a habit: no warning that nobody reads.
  const read = (job: EnqueueInput | string): JobInput =>
    readJobObject(typeof job === 'string' ? { command: job } : job, app.clock.now(), true).input;
  const add = async (
    given: EnqueueInput | string | (EnqueueInput | string)[],
    options: EnqueueOptions = {},
  ) => {
    const common = read(options);
    const inputs = [given].flat().map((job) => ({ ...read(job), ...common }));
    const jobs = await enqueue(app, inputs, () => process.cwd());
    const objects = await Promise.all(jobs.map((job) => addedObject(app, job)));
    return Array.isArray(given) ? objects : objects[0]!;
  };

  return {
    enqueue: add as Queue['enqueue'],
    ...actingVerbs(app),
    queues: queues(app),
    schedules: schedules(app, read),
    get: async (id) => jobObject(app, await getJob(app, id)),
    async list(wanted = {}) {
      const filter: JobFilter = {};
      if (wanted.state !== undefined) filter.states = [wanted.state].flat();
      if (wanted.queue !== undefined) filter.queue = wanted.queue;
      const jobs: JobObject[] = [];
      for await (const job of listJobs(app, filter, wanted.limit ?? null))
        jobs.push(await jobObject(app, job));
      return jobs;
    },
    counts: () => countStates(app),
    retry: async (...ids) => (await retry(app, ids)).changed,
    async wait(id, wanted = {}) {
      const [job] = await waitFor(app, [id], { timeoutMs: wanted.timeoutMs ?? null });
      return jobObject(app, job!);
    },
    events(wanted = {}) {
      const after = wanted.after === undefined ? lastEvent(app) : Promise.resolve(wanted.after);
      return (async function* () {
        try {
          for await (const event of followEvents(app, await after, {}, closing.signal))
            yield toEventObject(event);
        } catch (error) {
          if (!closing.signal.aborted) throw error;
        }
      })();
    },
    async startWorker(wanted = {}) {
      const started = await startWorker(
        app,
        {
          id: newWorkerId(),
          supervisor: 'library',
          concurrency: wanted.concurrency ?? 1,
          queues: wanted.queues ?? null,
          drain: wanted.drain ?? false,
          openFiles: null,
          since: null,
        },
        wanted.onEvent ?? (() => {}),
      );
      const worker: QueueWorker = {
        id: started.id,
        done: started.done,
        stop(how = {}) {
          started.stop(how.force ? 'force' : 'drain', 'stop()');
          return started.done;
        },
      };
      // Whoever does not look at `done` is not to be ended by its rejection.
      started.done.catch(() => {});
      workers.add(worker);
      return worker;
    },
    async close() {
      if (closed) return;
      closed = true;
      closing.abort();
      // One that had to give up has nothing left to stop.
      await Promise.allSettled([...workers].map((worker) => worker.stop()));
      await closeApp(app);
    },
  };
}
