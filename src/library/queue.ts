import { actorOf } from '../actions/actor.ts';
import { type App, closeApp, openApp } from '../actions/app.ts';
import { toAttemptObject, withCurrentFacts } from '../actions/attempts.ts';
import { enqueue } from '../actions/enqueue.ts';
import { followEvents, lastEventNumber } from '../actions/events.ts';
import { inTransactionOf } from '../actions/in-transaction.ts';
import { enqueuedJobObjects, getJob, getJobWithAttempts, jobObject } from '../actions/jobs.ts';
import { retryJobs } from '../actions/retry.ts';
import { countStates } from '../actions/status.ts';
import { waitFor } from '../actions/wait.ts';
import { type EventObject, toEventObject } from '../core/event-object.ts';
import { type JobInput, readJobObject } from '../core/job-input.ts';
import { refuseMissingDirectory, storeLocation } from '../store/location.ts';
import { jobActions } from './job-actions.ts';
import { list } from './list.ts';
import { logsOf } from './logs.ts';
import { closedError, eitherSignal, type OpenQueue } from './open-queue.ts';
import {
  abortSignal,
  count,
  jobIds,
  nonBlankText,
  readOptions,
  readStopPlan,
  type StopPlan,
  sqlClient,
  TIMEOUT_READERS,
  timeoutOf,
} from './options.ts';
import { queuesOf } from './queues.ts';
import { schedulesOf } from './schedules.ts';
import type { EnqueueInput, EnqueueOptions, EventOptions, OpenOptions, Queue, WaitOptions } from './types.ts';
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
    ...jobActions(queue),
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

type Lifecycle = Pick<Queue, 'startWorker' | 'close'> & { queue: OpenQueue };

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

async function wait(queue: OpenQueue, id: string, rawOptions: WaitOptions | undefined) {
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

function events(queue: OpenQueue, rawOptions: EventOptions | undefined): AsyncIterable<EventObject> {
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
