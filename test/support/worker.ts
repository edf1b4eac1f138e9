import type { App } from '../../src/actions/app.ts';
import type { WorkerEvent } from '../../src/core/events.ts';
import { startWorker, type WorkerHandle } from '../../src/worker/worker.ts';

/** Runs `work` beside a worker in this process, and then stops the worker with its jobs. */
export async function withWorker(
  app: App,
  work: (worker: WorkerHandle, events: WorkerEvent[]) => Promise<void>,
): Promise<void> {
  const events: WorkerEvent[] = [];
  const options = {
    ...{ id: 'w1', supervisor: 's', concurrency: 2, queues: null, drain: false, openFileLimit: null },
    stopFileSince: null,
  };
  const worker = await startWorker(app, options, (event) => void events.push(event));
  try {
    await work(worker, events);
  } finally {
    worker.stop('force', 'the test is over');
    await worker.done;
  }
}
