import { STOP_ORDERS, type StopOrder } from '../core/stop-order.ts';
import type { Agenda } from '../store/contract/claims.ts';
import { endAllAttempts } from './slots.ts';
import type { WorkerState } from './state.ts';
import { longTimeout } from './timer.ts';

/** Obeys the stop order in the store, the requests to end jobs of this worker, and the stop file. */
export function obeyOrders(worker: WorkerState, { order, endReasons }: Agenda): void {
  const { options, startedAt, stopFile } = worker;
  if (order !== null) stop(worker, order, 'worker stop');
  for (const { attempt, reason } of endReasons) worker.live.get(attempt)?.end(reason);
  if (worker.order === null && stopFile.isNewerThan(options.stopFileSince ?? startedAt))
    stop(worker, 'drain', '.stop_workers');
}

/** Follows a stop order, unless one at least as strong was given before. `siblingsStopToo` is true if the whole supervisor is stopped. */
export function stop(worker: WorkerState, order: StopOrder, why: string, siblingsStopToo = false): void {
  worker.siblingsStop ||= siblingsStopToo;
  const { order: current } = worker;
  if (worker.over || (current !== null && STOP_ORDERS.indexOf(current) >= STOP_ORDERS.indexOf(order))) return;
  worker.order = order;
  worker.emit({ type: 'worker-draining', workerId: worker.id, running: worker.live.size, why });
  const { 'stop-timeout': timeoutMs } = worker.settings;
  if (order === 'drain' && timeoutMs !== null)
    worker.timers.stop = longTimeout(() => stop(worker, 'force', 'stop-timeout'), timeoutMs);
  if (order === 'force') endAllAttempts(worker, 'stopped');
  worker.loops.beat.runNow();
  worker.loops.work.runNow();
}

/** Drains the worker. Remembers the time of its first signal, because its jobs may have got the same signal at that time. */
export function drainOnSignal(worker: WorkerState, name: string): void {
  if (worker.signalledAt === Number.NEGATIVE_INFINITY) worker.signalledAt = worker.app.clock.monotonic();
  stop(worker, 'drain', name, true);
}
