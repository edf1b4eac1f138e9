import { STOP_ORDERS, type StopOrder } from '../core/stop-order.ts';
import { endAll } from './slots.ts';
import type { WorkerState } from './state.ts';
import { longTimeout } from './timer.ts';

/** Obeys the stop orders in the store, the requests to end its jobs, and the stop file. */
export async function obeyOrders(worker: WorkerState): Promise<void> {
  const { app, id, options, startedAt, stopFile } = worker;
  const order = await app.store.stopOrderOf(id);
  if (order !== null) stop(worker, order, 'worker stop');
  for (const { attempt, reason } of await app.store.endReasons(id)) worker.live.get(attempt)?.end(reason);
  if (worker.order === null && stopFile.isNewerThan(options.since ?? startedAt))
    stop(worker, 'drain', '.stop_workers');
}

/** Follows a stop order, unless one at least as strong was given before. */
export function stop(worker: WorkerState, wanted: StopOrder, why: string, siblings = false): void {
  worker.siblingsStop ||= siblings;
  const { order } = worker;
  if (worker.over || (order !== null && STOP_ORDERS.indexOf(order) >= STOP_ORDERS.indexOf(wanted))) return;
  worker.order = wanted;
  worker.emit({ type: 'worker-draining', workerId: worker.id, running: worker.live.size, why });
  const { 'stop-timeout': limit } = worker.settings;
  if (wanted === 'drain' && limit !== null)
    worker.timers.stop = longTimeout(() => stop(worker, 'force', 'stop-timeout'), limit);
  if (wanted === 'force') endAll(worker, 'stopped');
  worker.loops.beat.now();
  worker.loops.work.now();
}

/** Drains the worker and keeps the time of its first signal, because its jobs may have got the same signal at that time. */
export function drainOnSignal(worker: WorkerState, name: string): void {
  if (worker.signalledAt === Number.NEGATIVE_INFINITY) worker.signalledAt = worker.app.clock.monotonic();
  stop(worker, 'drain', name, true);
}
