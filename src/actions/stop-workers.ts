import { pause } from '../core/clock.ts';
import { QueueError } from '../core/errors.ts';
import type { StopOrder } from '../core/stop-order.ts';
import { countOf } from '../core/words.ts';
import { orderNow, untilAfter } from '../exec/started.ts';
import { wake } from '../state/wake.ts';
import type { Worker } from '../store/contract/workers.ts';
import type { App } from './app.ts';
import { activeSupervisors, activeWorkers } from './workers.ts';

const LOOK_MS = 50;

export interface StopRequest {
  order: StopOrder;
  /** The ids of the workers; all if not given. */
  only?: string[];
  /** Limits only the wait. The order stays. */
  timeoutMs: number | null;
  /** Is called at the start and whenever the number of workers changes. */
  onWait(left: Worker[]): void;
}

/** Orders workers and supervisors to stop, and waits until they have. Returns how many workers there were. */
export async function stopWorkers(app: App, request: StopRequest): Promise<number> {
  const { ids, workers } = await orderStop(app, request.order, request.only);
  if (ids.length > 0) await untilGone(app, new Set(ids), request);
  return workers;
}

/** Gives the order without waiting. A worker that is stopped by its id is not replaced, and the others continue. */
export async function orderStop(
  app: App,
  order: StopOrder,
  only?: string[],
): Promise<{ ids: string[]; workers: number }> {
  if (only === undefined) return orderAllToStop(app, order);
  const workers = await activeWorkers(app);
  const stray = only.find((id) => !workers.some((one) => one.id === id));
  if (stray !== undefined) throw new QueueError('worker-not-found', `there is no worker '${stray}'`);
  await app.store.order(only, order);
  wake(app.stateDirectory);
  return { ids: only, workers: only.length };
}

/** Orders all workers and supervisors to stop, even supervisors that are starting and not registered yet. */
async function orderAllToStop(app: App, order: StopOrder): Promise<{ ids: string[]; workers: number }> {
  // They are read twice, because idle workers may be gone by the second time, and new ones are missing in the first.
  const workers = new Set<string>();
  const supervisors = new Set<string>();
  for (const one of await activeWorkers(app)) workers.add(one.id);
  for (const one of await activeSupervisors(app)) supervisors.add(one.id);
  const mark = orderNow();
  await app.store.orderAll(order, mark);
  wake(app.stateDirectory);
  for (const one of await activeWorkers(app)) if (one.order !== null) workers.add(one.id);
  for (const one of await activeSupervisors(app)) if (one.order !== null) supervisors.add(one.id);
  // The next program of a script must not be mistaken for one that was starting.
  await untilAfter(mark.at);
  // A supervisor whose worker was just being replaced counts as that worker.
  return { ids: [...workers, ...supervisors], workers: Math.max(workers.size, supervisors.size) };
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
        `${countOf(left.length, 'worker')} ${left.length === 1 ? 'is' : 'are'} still waiting for running jobs`,
        'to stop the running jobs too: queuectl worker stop --force',
      );
    }
    await pause(LOOK_MS);
  }
}
