import { QueueError } from '../core/errors.ts';
import { wake } from '../exec/wake.ts';
import type { StopOrder, Worker } from '../store/store.ts';
import type { App } from './app.ts';
import { activeWorkers } from './workers.ts';

const LOOK_MS = 50;

export interface StopRequest {
  order: StopOrder;
  /** Bounds only the wait; the order stands. */
  timeoutMs: number | null;
  /** Told at the start and whenever the number of workers changes. */
  onWait(left: Worker[]): void;
}

/** Orders every active worker to stop and waits until they have. Answers how many there were. */
export async function stopWorkers(app: App, request: StopRequest): Promise<number> {
  const workers = await activeWorkers(app);
  if (workers.length === 0) return 0;
  await app.store.order(
    workers.map((worker) => worker.id),
    request.order,
  );
  wake(app.stateDirectory);
  await untilGone(app, workers, request);
  return workers.length;
}

async function untilGone(app: App, stopping: Worker[], request: StopRequest): Promise<void> {
  const ids = new Set(stopping.map((worker) => worker.id));
  const start = app.clock.monotonic();
  let before = -1;
  for (;;) {
    const left = (await activeWorkers(app)).filter((worker) => ids.has(worker.id));
    if (left.length === 0) return;
    if (left.length !== before) request.onWait(left);
    before = left.length;
    if (request.timeoutMs !== null && app.clock.monotonic() - start > request.timeoutMs) {
      throw new QueueError(
        'timeout',
        `${left.length} of ${stopping.length} workers are still finishing their jobs`,
        'queuectl worker stop --force',
      );
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
