import type { StopOrder } from '../../core/stop-order.ts';
import { LATEST_DATE_MS } from '../../core/time.ts';
import { toNextTick, toOrder, toWish } from '../agenda-rows.ts';
import type { Agenda, Wish } from '../contract/claims.ts';
import type { Connection } from './connection.ts';
import { dueQueues, readyQueues } from './open-queues.ts';
import { openQueuesWithPlaced } from './placed-jobs.ts';
import * as sql from './sql/claims.ts';
import { nextTick } from './sql/schedules.ts';
import { stopOrder } from './sql/workers.ts';

export function readAgenda(
  db: Connection,
  workerId: string,
  queues: string[] | null,
  now: number,
  offers: string[],
): Agenda {
  const row = db.get(sql.orderAndAnyPlaced, workerId)!;
  return {
    order: toOrder(row),
    wishes: readWishes(db, workerId),
    nextDue: queues?.length === 0 ? null : nextDue(db, queues, now, row.any_placed === 1 ? offers : []),
    nextTick: toNextTick(db.get(nextTick)!),
  };
}

export function stopOrderOf(db: Connection, workerId: string): StopOrder | null {
  return toOrder(db.get(stopOrder, workerId));
}

export function readWishes(db: Connection, workerId: string): Wish[] {
  return db.all(sql.wishes, workerId).map(toWish);
}

function nextDue(db: Connection, names: string[] | null, now: number, offers: string[]): number | null {
  let earliest = Number.POSITIVE_INFINITY;
  for (const { openAt } of openQueuesWithPlaced(db, offers, names, now))
    earliest = Math.min(earliest, openAt);
  if (earliest <= now) return earliest;
  for (const { number, openAt } of readyQueues(db, names, now)) {
    if (openAt >= earliest || db.get(sql.readyHeads, number, 1) === undefined) continue;
    // No other queue can matter if a job can be claimed now.
    if (openAt <= now) return openAt;
    earliest = openAt;
  }
  for (const { number, openAt, nextDueAt } of dueQueues(db, names, now, LATEST_DATE_MS)) {
    if (nextDueAt! >= earliest) break;
    if (openAt >= earliest) continue;
    const due = db.get(sql.nextDueAt, number)!.due_at as number | null;
    if (due !== null) earliest = Math.min(earliest, Math.max(due, openAt));
  }
  return earliest === Number.POSITIVE_INFINITY ? null : earliest;
}
