import { STOP_ORDERS, type StopOrder } from '../core/stop-order.ts';
import { signalAttempt, targetOf } from '../exec/kill.ts';
import type { Agenda, Wish } from '../store/contract/claims.ts';
import { endAllAttempts } from './slots.ts';
import type { WorkerState } from './state.ts';
import { longTimeout } from './timer.ts';

/** Obeys the stop order in the store, the wishes for jobs of this worker, and the stop file. */
export async function obeyOrders(worker: WorkerState, { order, wishes }: Agenda): Promise<void> {
  if (order !== null) stop(worker, order, 'worker stop');
  for (const wish of wishes) await fulfil(worker, wish);
  if (worker.order === null && worker.stopFile.isNew()) stop(worker, 'drain', '.stop_workers');
}

/** Ends an attempt, or signals its processes. A signal is sent again after the next look if the command has not started yet. */
async function fulfil({ app, live }: WorkerState, { claim, end, signal }: Wish): Promise<void> {
  const attempt = live.get(claim.attempt);
  if (attempt === undefined) return;
  if (end !== null) attempt.end(end);
  else if (signal !== null && signalAttempt(targetOf(attempt.place), signal) > 0)
    await app.store.signalSent(claim, signal);
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
  worker.turns.giveBackAll();
  if (order === 'force') endAllAttempts(worker, 'stopped');
  worker.loops.beat.runNow();
  worker.loops.work.runNow();
}

/** Drains the worker. Remembers the time of its first signal, because its jobs may have got the same signal at that time. */
export function drainOnSignal(worker: WorkerState, name: string): void {
  if (worker.signalledAt === Number.NEGATIVE_INFINITY) worker.signalledAt = worker.app.clock.monotonic();
  stop(worker, 'drain', name, true);
}
