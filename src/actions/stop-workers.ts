import { QueueError } from '../core/errors.ts';
import { wake } from '../exec/wake.ts';
import type { StopOrder, Worker } from '../store/worker.ts';
import type { App } from './app.ts';
import { activeSupervisors, activeWorkers } from './workers.ts';

const LOOK_MS = 50;

export interface StopRequest {
  order: StopOrder;
  /** Only these workers, by id; every one unless given. */
  only?: string[];
  /** Bounds only the wait; the order stands. */
  timeoutMs: number | null;
  /** Told at the start and whenever the number of workers changes. */
  onWait(left: Worker[]): void;
}

/** Orders workers and supervisors to stop and waits until they have. Answers how many workers there were. */
export async function stopWorkers(app: App, request: StopRequest): Promise<number> {
  const { ids, workers } = await orderStop(app, request.order, request.only);
  if (ids.length > 0) await untilGone(app, new Set(ids), request);
  return workers;
}

/** The order alone. One that is stopped by itself is not replaced, and the others go on. */
export async function orderStop(
  app: App,
  order: StopOrder,
  only?: string[],
): Promise<{ ids: string[]; workers: number }> {
  const workers = await activeWorkers(app);
  const supervisors = only === undefined ? await activeSupervisors(app) : [];
  const ids = only ?? [...workers, ...supervisors].map((one) => one.id);
  const stray = ids.find((id) => ![...workers, ...supervisors].some((one) => one.id === id));
  if (stray !== undefined) throw new QueueError('worker-not-found', `there is no worker '${stray}'`);
  if (ids.length === 0) return { ids, workers: 0 };
  await app.store.order(ids, order);
  wake(app.stateDirectory);
  // A supervisor whose worker was just being replaced stands for that one.
  return { ids, workers: only?.length ?? Math.max(workers.length, supervisors.length) };
}

async function untilGone(app: App, ids: Set<string>, request: StopRequest): Promise<void> {
  const start = app.clock.monotonic();
  let before = -1;
  for (;;) {
    const left = (await activeWorkers(app)).filter((worker) => ids.has(worker.id));
    const supervisors = (await activeSupervisors(app)).filter((supervisor) => ids.has(supervisor.id));
    if (left.length + supervisors.length === 0) return;
    if (left.length !== before) request.onWait(left);
    before = left.length;
    if (request.timeoutMs !== null && app.clock.monotonic() - start > request.timeoutMs) {
      throw new QueueError(
        'timeout',
        `${left.length} of the workers are still finishing their jobs`,
        'queuectl worker stop --force',
      );
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
