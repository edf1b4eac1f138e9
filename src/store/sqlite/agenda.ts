import { LATEST_DATE_MS } from '../../core/time/time.ts';
import type { Agenda } from '../contract/claims.ts';
import { claimStatements } from '../parts/claims.ts';
import { scheduleStatements } from '../parts/schedules.ts';
import { workerStatements } from '../parts/workers.ts';
import { toNextTick, toOrder, toWish } from '../rows.ts';
import type { Connection } from './connection.ts';
import { numbered, SQLITE } from './engine.ts';
import { dueQueues, readyQueues } from './open-queues.ts';
import * as sql from './sql/claims.ts';

export function readAgenda(db: Connection, workerId: string, queues: string[] | null, now: number): Agenda {
  return {
    order: toOrder(db.get(numbered(workerStatements(SQLITE).stopOrder), workerId)),
    wishes: db.all(numbered(claimStatements(SQLITE).wishes), workerId).map(toWish),
    nextDue: queues?.length === 0 ? null : nextDue(db, queues, now),
    nextTick: toNextTick(db.get(scheduleStatements(SQLITE).nextTick)!),
  };
}

function nextDue(db: Connection, names: string[] | null, now: number): number | null {
  let earliest = Number.POSITIVE_INFINITY;
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
