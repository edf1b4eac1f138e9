import type { App } from '../actions/app.ts';
import { checkQueueName } from '../core/jobs/id.ts';
import { type Emit, toWorkerEventObject, type WorkerEventObject } from '../core/rules/events.ts';
import { RANGES } from '../core/settings/settings.ts';
import { guardInProcess, LIBRARY_SUPERVISOR } from '../worker/guard.ts';
import { longTimeout } from '../worker/loops.ts';
import { newWorkerId, startWorker, type WorkerHandle } from '../worker/worker.ts';
import { callback, flag, readOptions, readStopPlan, type StopPlan, texts, wholeNumber } from './options.ts';
import type { QueueWorker, WorkerStart } from './types.ts';

export type OwnWorker = Awaited<ReturnType<typeof startOwnWorker>>;

/** Starts a worker in this process for an open queue. The program gets `publicWorker`, and the queue calls `stop`. */
export async function startOwnWorker(app: App, rawOptions: WorkerStart | undefined) {
  const given = readOptions(rawOptions, 'startWorker()', {
    concurrency: wholeNumber(RANGES.concurrency),
    queues: queueNames,
    drain: flag,
    onEvent: callback<WorkerEventObject>,
  });
  const id = newWorkerId();
  const options = {
    id,
    supervisor: LIBRARY_SUPERVISOR,
    concurrency: given.concurrency ?? 1,
    queues: given.queues ?? null,
    drain: given.drain ?? false,
    openFileLimit: null,
    stopFileSince: null,
  };
  const endGuard = app.store.manyHosts ? guardInProcess(app.stateDirectory) : () => {};
  let handle: WorkerHandle;
  try {
    handle = await startWorker(app, options, emitTo(app, id, given.onEvent));
  } catch (error) {
    endGuard();
    throw error;
  }
  handle.done.then(endGuard, endGuard);
  // If the program ignores `done`, a rejection must not end it.
  handle.done.catch(() => {});
  const stop = (plan: StopPlan, why: string): Promise<void> => stopWorker(handle, plan, why);
  const publicWorker: QueueWorker = {
    id,
    done: handle.done,
    stop: async (stopOptions) => stop(readStopPlan(stopOptions, 'stop()'), 'stop()'),
    [Symbol.asyncDispose]: () => stop({ order: 'drain', timeoutMs: null }, 'stop()'),
  };
  return { stop, publicWorker };
}

/** Gives the order at once or, with `timeoutMs`, drains the worker for that time first. Resolves when the worker has stopped. */
async function stopWorker(handle: WorkerHandle, { order, timeoutMs }: StopPlan, why: string): Promise<void> {
  if (timeoutMs === null) {
    handle.stop(order, why);
    return handle.done;
  }
  handle.stop('drain', why);
  const cancel = longTimeout(() => handle.stop(order, `timeout of ${why}`), timeoutMs);
  try {
    await handle.done;
  } finally {
    cancel();
  }
}

/** Reads names of queues. Returns null, which means all queues, if one of them is `*`. */
function queueNames(value: unknown, name: string): string[] | null {
  const names = texts(value, name);
  return names.includes('*') ? null : names.map((one) => checkQueueName(one, 'a queue name'));
}

/** Passes events to `onEvent`. An error in `onEvent` is thrown outside the worker, so that the worker continues. */
function emitTo(app: App, id: string, onEvent: WorkerStart['onEvent']): Emit {
  if (onEvent === undefined) return () => {};
  return (event) => {
    try {
      onEvent(toWorkerEventObject(event, id, app.clock.now()));
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  };
}
