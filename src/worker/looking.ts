import { freeSlots } from './slots.ts';
import type { WorkerState } from './state.ts';
import { obeyOrders } from './stopping.ts';
import { longTimeout } from './timer.ts';

/**
 * Reads the agenda of the worker, obeys the orders in it, and notes when the next job and the next tick are due. Returns whether
 * a job can be claimed now. A worker without a free slot does not look for jobs.
 */
export async function look(worker: WorkerState): Promise<boolean> {
  const { app, id, queues, offers, timers, loops, lookout, scheduling } = worker;
  lookout.looked();
  const now = app.clock.now();
  const agenda = await app.store.agenda(id, freeSlots(worker) > 0 ? queues : [], now, offers);
  const { nextDue } = agenda;
  scheduling.nextAt = agenda.nextTick;
  timers.due();
  if (nextDue !== null && nextDue > now) timers.due = longTimeout(loops.work.runNow, nextDue - now);
  await obeyOrders(worker, agenda);
  return nextDue !== null && nextDue <= now;
}
