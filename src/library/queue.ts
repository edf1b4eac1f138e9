import { actorOf } from '../actions/actor.ts';
import { type App, closeApp, openApp } from '../actions/app.ts';
import { enqueue } from '../actions/enqueue.ts';
import { followEvents, lastEvent } from '../actions/events.ts';
import { addedObjects, getJob, jobObject, listJobs } from '../actions/jobs.ts';
import { retry } from '../actions/retry.ts';
import { countStates } from '../actions/status.ts';
import { waitFor } from '../actions/wait.ts';
import { type EventObject, toEventObject } from '../core/event-object.ts';
import type { WorkerEvent } from '../core/events.ts';
import type { GivenOf } from '../core/field.ts';
import { readJobFilter } from '../core/filter.ts';
import type { GoneJob, State } from '../core/job.ts';
import type { JOB_FIELDS } from '../core/job-fields.ts';
import { type JobInput, readJobObject } from '../core/job-input.ts';
import type { JobObject } from '../core/job-object.ts';
import type { WaitingReason } from '../core/waiting-reason.ts';
import { storeLocation } from '../store/location.ts';
import { newWorkerId, startWorker } from '../worker/worker.ts';
import { type ActingVerbs, actingVerbs } from './acting.ts';
import { type Queues, queues } from './queues.ts';
import { type Schedules, schedules } from './schedules.ts';

/** A job to enqueue. A plain string is a shell command. */
export interface EnqueueInput extends GivenOf<typeof JOB_FIELDS> {}

export interface EnqueueOptions {
  /** Makes the call idempotent: repeating it within 24 hours returns the original jobs. Deleted ones are `gone`. */
  idempotency_key?: string;
}

export interface ListOptions {
  state?: State | State[];
  queue?: string;
  /** Returns only jobs that wait for one of these reasons. */
  waiting_for?: WaitingReason | WaitingReason[];
  limit?: number;
}

export interface WorkerStart {
  /** Maximum number of concurrent jobs (default: 1). */
  concurrency?: number;
  queues?: string[];
  /** Stops the worker when no work is left. */
  drain?: boolean;
  onEvent?(event: WorkerEvent): void;
}

export interface QueueWorker {
  id: string;
  /** Claims no more jobs and waits for the running ones. `force` stops them and returns them to their queues. */
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
  /** Returns jobs, newest first. All matches are returned unless there is a limit. */
  list(options?: ListOptions): Promise<JobObject[]>;
  counts(): Promise<Record<State, number>>;
  /** Returns dead, cancelled or failed jobs to their queues, including at-most-once jobs. Returns their ids. */
  retry(...ids: string[]): Promise<string[]>;
  queues: Queues;
  schedules: Schedules;
  /** Resolves when the job is completed, dead or cancelled. */
  wait(id: string, options?: { timeoutMs?: number }): Promise<JobObject>;
  /**
   * Yields each event of all processes once and in order, from the call on or after event number `after`. Ends when the
   * queue is closed or the loop is left.
   */
  events(options?: { after?: number }): AsyncIterable<EventObject>;
  /** Runs jobs in this process. Resolves when the worker is ready. */
  startWorker(options?: WorkerStart): Promise<QueueWorker>;
  /** Stops the workers of this queue, then closes the store. */
  close(): Promise<void>;
}

export interface OpenOptions {
  /** The database file. The default is that of the command line. */
  db?: string;
  /** The author of changes that events record (default: user@host). */
  actor?: string;
}

export async function openQueue(options: OpenOptions = {}): Promise<Queue> {
  const actor = options.actor ?? actorOf(process.env);
  const app = await openApp(storeLocation(options.db, process.env), actor, { access: 'write' });
  const closing = new AbortController();
  const workers = new Set<QueueWorker>();
  let closed = false;

  // In a program, an unknown field is a bug. It is an error, because nobody would read a warning.
  const read = (job: EnqueueInput | string): JobInput =>
    readJobObject(typeof job === 'string' ? { command: job } : job, app.clock.now(), true).input;
  const add = async (
    given: EnqueueInput | string | (EnqueueInput | string)[],
    options: EnqueueOptions = {},
  ) => {
    const common = read(options);
    const inputs = [given].flat().map((job) => ({ ...read(job), ...common }));
    const jobs = await enqueue(app, inputs, () => process.cwd());
    const objects = await addedObjects(app, jobs);
    return Array.isArray(given) ? objects : objects[0]!;
  };

  return {
    enqueue: add as Queue['enqueue'],
    ...actingVerbs(app),
    queues: queues(app),
    schedules: schedules(app, read),
    get: async (id) => jobObject(app, await getJob(app, id)),
    async list(wanted = {}) {
      const reasons = [wanted.waiting_for ?? []].flat();
      const all = (field: string): string[] => (field === 'waiting-for' ? reasons : []);
      // Reading the reasons refuses a misspelt one.
      const filter = readJobFilter(
        { one: () => undefined, all, called: () => 'waiting_for' },
        app.clock.now(),
      );
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
      const worker = await startQueueWorker(app, wanted);
      workers.add(worker);
      return worker;
    },
    async close() {
      if (closed) return;
      closed = true;
      closing.abort();
      // A worker that failed has nothing left to stop.
      await Promise.allSettled([...workers].map((worker) => worker.stop()));
      await closeApp(app);
    },
  };
}

async function startQueueWorker(app: App, wanted: WorkerStart): Promise<QueueWorker> {
  const options = {
    id: newWorkerId(),
    supervisor: 'library',
    concurrency: wanted.concurrency ?? 1,
    queues: wanted.queues ?? null,
    drain: wanted.drain ?? false,
    openFiles: null,
    since: null,
  };
  const { id, done, stop } = await startWorker(app, options, wanted.onEvent ?? (() => {}));
  // A caller that ignores `done` must not be ended by its rejection.
  done.catch(() => {});
  return {
    id,
    done,
    stop(how = {}) {
      stop(how.force ? 'force' : 'drain', 'stop()');
      return done;
    },
  };
}
