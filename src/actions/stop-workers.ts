import { pause } from '../core/clock.ts';
import { QueueError } from '../core/errors.ts';
import type { StopOrder } from '../core/stop-order.ts';
import { countOf } from '../core/words.ts';
import { currentStopMark, untilClockAfter } from '../exec/stop-mark.ts';
import type { Worker } from '../store/contract/workers.ts';
import type { App } from './app.ts';
import { activeSupervisors, activeWorkers } from './workers.ts';

const POLL_MS = 50;

export interface StopRequest {
  order: StopOrder;
  /** The ids of the workers to stop. If not given, all workers and supervisors are stopped. */
  workerIds?: string[];
  /** How long to wait, or null for no limit. The order stays in effect after the timeout. */
  timeoutMs: number | null;
  /** Is called with the workers that are left, at the start and whenever their number changes. */
  onWait(remaining: Worker[]): void;
}

/** Orders workers to stop and waits until they have stopped. Returns how many workers there were. */
export async function stopWorkers(app: App, request: StopRequest): Promise<number> {
  const { ids, workerCount } = await orderStop(app, request.order, request.workerIds);
  if (ids.length > 0) await untilGone(app, new Set(ids), request);
  return workerCount;
}

/** Orders workers to stop and does not wait. If `workerIds` is given, only these workers stop, and they are not replaced. */
export async function orderStop(app: App, order: StopOrder, workerIds?: string[]) {
  if (workerIds === undefined) return orderAllToStop(app, order);
  const workers = await activeWorkers(app);
  const unknownId = workerIds.find((id) => !workers.some((one) => one.id === id));
  if (unknownId !== undefined) throw new QueueError('worker-not-found', `there is no worker '${unknownId}'`);
  await app.store.order(workerIds, order);
  app.signals.wake();
  return { ids: workerIds, workerCount: workerIds.length };
}

/** Orders all workers and supervisors to stop, even supervisors that are starting and not registered yet. */
async function orderAllToStop(app: App, order: StopOrder): Promise<{ ids: string[]; workerCount: number }> {
  // The lists are read before and after the order: an idle worker may be gone afterwards, and a new one was missing before.
  const workerIds = new Set<string>();
  const supervisorIds = new Set<string>();
  for (const one of await activeWorkers(app)) workerIds.add(one.id);
  for (const one of await activeSupervisors(app)) supervisorIds.add(one.id);
  const stopMark = currentStopMark();
  await app.store.orderAll(order, stopMark);
  app.signals.wake();
  for (const one of await activeWorkers(app)) if (one.order !== null) workerIds.add(one.id);
  for (const one of await activeSupervisors(app)) if (one.order !== null) supervisorIds.add(one.id);
  // A worker that a script starts after this command must not be mistaken for one that was starting before.
  await untilClockAfter(stopMark.at);
  // A supervisor may be replacing its only worker just now, so there are at least as many workers as supervisors.
  return { ids: [...workerIds, ...supervisorIds], workerCount: Math.max(workerIds.size, supervisorIds.size) };
}

async function untilGone(app: App, ids: Set<string>, request: StopRequest): Promise<void> {
  const start = app.clock.monotonic();
  let lastCount = -1;
  for (;;) {
    const remaining = (await activeWorkers(app)).filter((worker) => ids.has(worker.id));
    const supervisors = (await activeSupervisors(app)).filter((supervisor) => ids.has(supervisor.id));
    if (remaining.length + supervisors.length === 0) return;
    if (remaining.length !== lastCount) request.onWait(remaining);
    lastCount = remaining.length;
    if (request.timeoutMs !== null && app.clock.monotonic() - start > request.timeoutMs) {
      throw new QueueError(
        'timeout',
        `${countOf(remaining.length, 'worker')} ${remaining.length === 1 ? 'is' : 'are'} still waiting for running jobs`,
        'to stop the running jobs too: queuectl worker stop --force',
      );
    }
    await pause(POLL_MS);
  }
}
