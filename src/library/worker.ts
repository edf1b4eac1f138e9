import type { App } from '../actions/app.ts';
import type { Emit } from '../core/events.ts';
import { checkQueueName } from '../core/id.ts';
import { RANGES } from '../core/settings.ts';
import { toWorkerEventObject, type WorkerEventObject } from '../core/worker-event-object.ts';
import { longTimeout } from '../worker/timer.ts';
import { newWorkerId, startWorker, type WorkerHandle } from '../worker/worker.ts';
import { callback, flag, readOptions, readStop, type Stop, texts, wholeNumber } from './options.ts';
import type { QueueWorker, WorkerStart } from './types.ts';

/** A worker of the library, as the queue keeps it to stop it at its end. */
export interface OwnWorker {
  shown: QueueWorker;
  stop(request: Stop, why: string): Promise<void>;
}

export async function startOwnWorker(app: App, wanted: WorkerStart | undefined): Promise<OwnWorker> {
  const given = readOptions(wanted, 'startWorker()', {
    concurrency: wholeNumber(RANGES.concurrency),
    queues: queueNames,
    drain: flag,
    onEvent: callback<WorkerEventObject>,
  });
  const id = newWorkerId();
  const options = {
    id,
    supervisor: 'library',
    concurrency: given.concurrency ?? 1,
    queues: given.queues ?? null,
    drain: given.drain ?? false,
    openFileLimit: null,
    stopFileSince: null,
  };
  const handle = await startWorker(app, options, emitTo(app, id, given.onEvent));
  // A caller that ignores `done` must not be ended by its rejection.
  handle.done.catch(() => {});
  const stop = (request: Stop, why: string): Promise<void> => stopWorker(handle, request, why);
  return {
    stop,
    shown: {
      id,
      done: handle.done,
      stop: async (options) => stop(readStop(options, 'stop()'), 'stop()'),
      [Symbol.asyncDispose]: () => stop({ order: 'drain', timeoutMs: null }, 'stop()'),
    },
  };
}

/** Gives the order now, or after the time in which the jobs may still finish. */
async function stopWorker(handle: WorkerHandle, { order, timeoutMs }: Stop, why: string): Promise<void> {
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

/** Returns null for all queues. */
function queueNames(value: unknown, name: string): string[] | null {
  const names = texts(value, name);
  return names.includes('*') ? null : names.map((one) => checkQueueName(one, 'a queue name'));
}

/** Calls back with each event. An error in the callback is one of the program, so it must not end the worker. */
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
