import { type App, actorOf, closeApp, openApp } from '../actions/app.ts';
import { followEvents, lastEventNumber } from '../actions/events.ts';
import type { JobActionResult } from '../actions/jobs/act.ts';
import { toAttemptObject, withCurrentFacts } from '../actions/jobs/attempts.ts';
import { enqueue, inTransactionOf } from '../actions/jobs/enqueue.ts';
import { JOB_ACTIONS } from '../actions/jobs/job-actions.ts';
import { enqueuedJobObjects, getJob, getJobWithAttempts, jobObject, listJobs } from '../actions/jobs/jobs.ts';
import { retryJobs } from '../actions/jobs/retry.ts';
import { waitFor } from '../actions/jobs/wait.ts';
import { changeQueue, listQueues, pauseQueues, readQueueInput, resumeQueues } from '../actions/queues.ts';
import {
  addSchedule,
  listSchedules,
  pauseSchedule,
  readScheduleInput,
  removeSchedule,
  resumeSchedule,
  runSchedule,
  toScheduleObject,
} from '../actions/schedules.ts';
import { countStates } from '../actions/stats.ts';
import { FILTER_FIELDS, readJobFilter } from '../core/jobs/filter.ts';
import { type JobInput, readJobObject } from '../core/jobs/job-input.ts';
import type { JobObject } from '../core/jobs/job-object.ts';
import { readTextMap } from '../core/jobs/read-field.ts';
import { type EventObject, toEventObject } from '../core/rules/events.ts';
import type { QueueInput } from '../core/rules/queue.ts';
import type { Schedule } from '../core/schedules/schedule.ts';
import type { ScheduleObject } from '../core/wire/wire.ts';
import { refuseMissingDirectory, storeLocation } from '../store/location.ts';
import { untilEnded } from '../worker/recovery.ts';
import { logsOf } from './logs.ts';
import {
  abortSignal,
  checkOptionNames,
  closedError,
  count,
  eitherSignal,
  jobIds,
  type LibraryQueue,
  nonBlankText,
  readOptions,
  readStopPlan,
  type StopPlan,
  sqlClient,
  TIMEOUT_READERS,
  texts,
  timeoutOf,
} from './options.ts';
import type {
  ActionResult,
  EnqueueInput,
  EnqueueOptions,
  EventOptions,
  ListOptions,
  NewSchedule,
  OpenOptions,
  Queue,
  Queues,
  Schedules,
  WaitOptions,
} from './types.ts';
import { type OwnWorker, startOwnWorker } from './worker.ts';

/** Opens the queue, and creates it if there is none. */
export async function openQueue(options?: OpenOptions): Promise<Queue> {
  const given = readOptions(options, 'openQueue()', { db: nonBlankText, actor: nonBlankText });
  const actor = given.actor ?? actorOf(process.env);
  const location = storeLocation(given.db, process.env);
  if (given.db !== undefined) refuseMissingDirectory(location, 'db');
  const openedApp = await openApp(location, actor, { access: 'write' });
  const { queue, startWorker, close } = lifecycleOf(openedApp, actor);

  // In a program, an unknown field is a bug. It is an error, because nobody would read a warning.
  const readJob = (job: EnqueueInput | string): JobInput =>
    readJobObject(typeof job === 'string' ? { command: job } : job, openedApp.clock.now(), true).input;
  const enqueueAll = async (
    jobOrJobs: EnqueueInput | string | (EnqueueInput | string)[],
    enqueueOptions: EnqueueOptions = {},
  ) => {
    const { client, ...jobOptions } = enqueueOptions;
    const app = client == null ? queue.app() : inTransactionOf(queue.app(), sqlClient(client));
    // The options are read like a job, because the idempotency key is a field of jobs.
    const idempotency = readJob(jobOptions);
    const inputs = [jobOrJobs].flat().map((job) => ({ ...readJob(job), ...idempotency }));
    const jobs = await enqueue(app, inputs, () => process.cwd());
    const objects = await enqueuedJobObjects(app, jobs);
    return Array.isArray(jobOrJobs) ? objects : objects[0]!;
  };

  return {
    enqueue: enqueueAll as Queue['enqueue'],
    cancel: action(queue, (app, ids) => JOB_ACTIONS.cancel.act(app, ids, { untilEnded })),
    hold: action(queue, JOB_ACTIONS.hold.act),
    release: action(queue, JOB_ACTIONS.release.act),
    delete: action(queue, JOB_ACTIONS.delete.act),
    queues: queuesOf(queue),
    schedules: schedulesOf(queue, readJob),
    async get(id) {
      const app = queue.app();
      return jobObject(app, await getJob(app, jobIds([id])[0]!));
    },
    list: (rawOptions) => list(queue, rawOptions),
    counts: async () => countStates(queue.app()),
    retry: async (...ids) =>
      (await retryJobs(queue.app(), [...new Set(jobIds(ids))], { strict: true })).changed,
    wait: (id, rawOptions) => queue.holdOpen(wait(queue, id, rawOptions)),
    logs: logsOf(queue),
    async attempts(id) {
      const app = queue.app();
      const { attempts } = await getJobWithAttempts(app, jobIds([id])[0]!);
      return withCurrentFacts(app, attempts).map(toAttemptObject);
    },
    events: (rawOptions) => events(queue, rawOptions),
    startWorker,
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** Returns a method that changes jobs by id. It throws if one of the ids does not exist. */
function action(queue: LibraryQueue, act: (app: App, ids: string[]) => Promise<JobActionResult>) {
  return async (...ids: string[]): Promise<ActionResult> => {
    const app = queue.app();
    const uniqueIds = [...new Set(jobIds(ids))];
    for (const id of uniqueIds) await getJob(app, id);
    const { changed, unchanged, alsoCancelled = [] } = await act(app, uniqueIds);
    const alsoField = alsoCancelled.length > 0 ? { also_cancelled: alsoCancelled } : {};
    return { changed, unchanged, ...alsoField };
  };
}

type Lifecycle = Pick<Queue, 'startWorker' | 'close'> & { queue: LibraryQueue };

/** Manages the workers of an open queue. `close` refuses new calls, then stops the workers, then closes the store. */
function lifecycleOf(app: App, actor: string): Lifecycle {
  const closing = new AbortController();
  const closed = new AbortController();
  const workers = new Set<Promise<OwnWorker>>();
  const heldWork = new Set<Promise<unknown>>();
  let ending: Promise<void> | null = null;
  const appUnlessClosing = (): App => {
    if (closing.signal.aborted) throw closedError();
    return app;
  };
  const stopAll = async (plan: StopPlan): Promise<void> => {
    // A worker that failed has nothing left to stop.
    await Promise.allSettled([...workers].map(async (worker) => (await worker).stop(plan, 'close()')));
  };
  const end = async (plan: StopPlan): Promise<void> => {
    await stopAll(plan);
    closed.abort(closedError());
    await Promise.allSettled(heldWork);
    await closeApp(app);
  };
  return {
    queue: {
      app: appUnlessClosing,
      actor,
      closing: closing.signal,
      closed: closed.signal,
      async holdOpen(work) {
        heldWork.add(work);
        try {
          return await work;
        } finally {
          heldWork.delete(work);
        }
      },
    },
    async startWorker(options) {
      const worker = startOwnWorker(appUnlessClosing(), options);
      workers.add(worker);
      const forget = (): boolean => workers.delete(worker);
      worker.then(({ publicWorker }) => publicWorker.done.then(forget, forget), forget);
      return (await worker).publicWorker;
    },
    async close(options) {
      const plan = readStopPlan(options, 'close()');
      closing.abort(closedError());
      // A second call may give a stronger order, as a second signal does.
      if (ending !== null) void stopAll(plan);
      ending ??= end(plan);
      await ending;
    },
  };
}

async function wait(queue: LibraryQueue, id: string, rawOptions: WaitOptions | undefined) {
  const app = queue.app();
  const options = readOptions(rawOptions, 'wait()', { ...TIMEOUT_READERS, signal: abortSignal });
  options.signal?.throwIfAborted();
  const signal = eitherSignal(queue.closed, options.signal);
  const ids = jobIds([id]);
  const waiting = { timeoutMs: timeoutOf(options), signal };
  const [job] = await waitFor(app, ids, waiting).catch((error) => {
    if (!queue.closed.aborted) throw error;
    // A worker of this queue may have finished the job just before the queue was closed.
    return waitFor(app, ids, { timeoutMs: 0 }).catch(() => {
      throw closedError();
    });
  });
  return jobObject(app, job!);
}

function events(queue: LibraryQueue, rawOptions: EventOptions | undefined): AsyncIterable<EventObject> {
  const endIfClosing = (error: unknown): null => {
    if (!queue.closing.aborted) throw error;
    return null;
  };
  // Without `after`, the events start after this call, even if the loop begins later.
  const start = (async () => {
    const app = queue.app();
    const { after, signal } = readOptions(rawOptions, 'events()', { after: count, signal: abortSignal });
    return { app, after: after ?? (await lastEventNumber(app).catch(endIfClosing)), signal };
  })();
  // If the iterable is never read, an error must not count as an unhandled rejection.
  start.catch(() => {});
  return (async function* () {
    const { app, after, signal } = await start;
    signal?.throwIfAborted();
    if (after === null) return;
    try {
      for await (const event of followEvents(app, after, {}, eitherSignal(queue.closing, signal)))
        yield toEventObject(event);
    } catch (error) {
      endIfClosing(error);
    }
  })();
}

/** Accepts a number or a text, and returns a text. */
const numberOrText = (value: unknown, name: string): string =>
  typeof value === 'number' ? String(value) : nonBlankText(value, name);

const optionName = (field: string): string => field.replaceAll('-', '_');

/** The readers of the fields of a filter. Tags are an object here. */
const { tag: _, ...FILTER_READERS } = Object.fromEntries(
  Object.entries(FILTER_FIELDS).map(([field, { all, isNumber }]) => [
    optionName(field),
    all !== undefined ? texts : isNumber ? numberOrText : nonBlankText,
  ]),
);

/** Lists matching jobs. The filter is checked as on the command line, so that a misspelt state does not match all jobs. */
async function list(queue: LibraryQueue, options: ListOptions | undefined): Promise<JobObject[]> {
  const app = queue.app();
  const {
    limit = null,
    tags,
    ...rest
  } = readOptions(options, 'list()', {
    ...FILTER_READERS,
    tags: readTextMap,
    limit: count,
  });
  const given = rest as Record<string, string | string[] | undefined>;
  const filter = readJobFilter((field) => [given[optionName(field)] ?? []].flat(), optionName);
  if (tags !== undefined) filter.tags = tags;
  const jobs: JobObject[] = [];
  for await (const job of listJobs(app, filter, limit)) jobs.push(await jobObject(app, job));
  return jobs;
}

const LIMIT_NAMES = ['concurrency', 'rate'] satisfies (keyof QueueInput)[];

/** Returns the methods of the library that manage queues. */
function queuesOf(queue: LibraryQueue): Queues {
  const checkedName = (name: unknown): string => nonBlankText(name, 'the name of the queue');
  return {
    list: async () => listQueues(queue.app()),
    async pause(name, by = queue.actor) {
      const [paused] = await pauseQueues(queue.app(), checkedName(name), nonBlankText(by, 'by'));
      return paused!;
    },
    resume: async (name) => (await resumeQueues(queue.app(), checkedName(name)))[0]!,
    async set(name, limits) {
      const changes = readQueueInput(checkOptionNames(limits, 'queues.set()', LIMIT_NAMES));
      return changeQueue(queue.app(), checkedName(name), changes);
    },
  };
}

const FIELDS = [
  ...['name', 'job', 'cron', 'timezone', 'every', 'overlap', 'catch_up'],
] as const satisfies (keyof NewSchedule)[];

/** Returns the methods of the library that manage schedules. `readJob` checks and converts the job of a new schedule. */
function schedulesOf(queue: LibraryQueue, readJob: (job: EnqueueInput | string) => JobInput): Schedules {
  const checkedName = (name: unknown): string => nonBlankText(name, 'the name of the schedule');
  const toObject = (schedule: Schedule): Promise<ScheduleObject> =>
    toScheduleObject(schedule, queue.app().clock.now());
  return {
    async add(schedule) {
      const app = queue.app();
      const options = checkOptionNames(schedule, 'schedules.add()', FIELDS) as NewSchedule;
      const { name, job: given, ...timing } = options;
      const scheduleName = checkedName(name);
      const job = readJob(given);
      const spec = {
        name: scheduleName,
        ...readScheduleInput(timing, app.clock.now()),
        job: { ...job, cwd: job.cwd ?? process.cwd() },
      };
      return toObject(await addSchedule(app, spec));
    },
    list: async () => Promise.all((await listSchedules(queue.app())).map(toObject)),
    remove: async (name) => toObject(await removeSchedule(queue.app(), checkedName(name))),
    pause: async (name, by = queue.actor) =>
      toObject(await pauseSchedule(queue.app(), checkedName(name), nonBlankText(by, 'by'))),
    resume: async (name) => toObject(await resumeSchedule(queue.app(), checkedName(name))),
    async run(name) {
      const app = queue.app();
      return jobObject(app, await runSchedule(app, checkedName(name)));
    },
  };
}
