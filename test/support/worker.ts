import type { App } from '../../src/actions/app.ts';
import type { WorkerEvent } from '../../src/core/rules/events.ts';
import { resolveSettings } from '../../src/core/settings/stored-settings.ts';
import { createTurns } from '../../src/worker/slots.ts';
import type { AttemptContext } from '../../src/worker/state.ts';
import { startWorker, type WorkerHandle } from '../../src/worker/worker.ts';

/** Returns the context in which a test runs attempts without a worker, with default settings. */
export function attemptContext(app: App): AttemptContext {
  return {
    ...{ app, emit: () => {}, turns: createTurns(1), lifeline: null, lease: null, order: null },
    userSettings: { umask: 0o077, openFileLimit: null },
    settings: resolveSettings(new Map()),
    recentSignals: 0,
  };
}

/** Runs `work` beside a worker in this process, and then stops the worker with its jobs. */
export async function withWorker(
  app: App,
  work: (worker: WorkerHandle, events: WorkerEvent[]) => Promise<void>,
): Promise<void> {
  const events: WorkerEvent[] = [];
  const options = {
    ...{
      id: 'w1',
      supervisor: 's',
      concurrency: 2,
      queues: null,
      drain: false,
      openFileLimit: null,
    },
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
