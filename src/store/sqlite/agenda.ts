import type { StopOrder } from '../../core/stop-order.ts';
import { toNextDue, toNextTick, toOrder, toWish } from '../agenda-rows.ts';
import type { Agenda, Wish } from '../contract/claims.ts';
import type { Connection } from './connection.ts';
import { openQueues } from './open-queues.ts';
import { wishes } from './sql/claims.ts';
import { nextTick } from './sql/schedules.ts';
import { stopOrder } from './sql/workers.ts';

export function readAgenda(db: Connection, workerId: string, queues: string[] | null, now: number): Agenda {
  return {
    order: stopOrderOf(db, workerId),
    wishes: readWishes(db, workerId),
    nextDue: queues?.length === 0 ? null : toNextDue(openQueues(db, queues, now)),
    nextTick: toNextTick(db.get(nextTick)!),
  };
}

export function stopOrderOf(db: Connection, workerId: string): StopOrder | null {
  return toOrder(db.get(stopOrder, workerId));
}

export function readWishes(db: Connection, workerId: string): Wish[] {
  return db.all(wishes, workerId).map(toWish);
}
