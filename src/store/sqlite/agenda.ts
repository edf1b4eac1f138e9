import type { EndReason } from '../../core/job.ts';
import { JOB_SIGNALS } from '../../core/signals.ts';
import { STOP_ORDERS, type StopOrder } from '../../core/stop-order.ts';
import type { Agenda, Wish } from '../contract/claims.ts';
import type { Connection } from './connection.ts';
import { openQueues } from './open-queues.ts';
import { toClaim } from './rows.ts';
import { wishes } from './sql/claims.ts';
import { nextTick as nextTickSql } from './sql/schedules.ts';
import { stopOrder } from './sql/workers.ts';

export function readAgenda(db: Connection, workerId: string, queues: string[] | null, now: number): Agenda {
  return {
    order: stopOrderOf(db, workerId),
    wishes: readWishes(db, workerId),
    nextDue: queues?.length === 0 ? null : nextDue(db, queues, now),
    nextTick: nextTick(db),
  };
}

export function stopOrderOf(db: Connection, workerId: string): StopOrder | null {
  const row = db.get(stopOrder, workerId);
  return row === undefined ? null : (STOP_ORDERS[(row.stop_order as number) - 1] ?? null);
}

export function readWishes(db: Connection, workerId: string): Wish[] {
  return db.all(wishes, workerId).map((row) => {
    const signal = JOB_SIGNALS.find((one) => one === row.signal) ?? null;
    return { claim: toClaim(row), end: row.end_reason as EndReason | null, signal };
  });
}

function nextDue(db: Connection, names: string[] | null, now: number): number | null {
  let earliest: number | null = null;
  for (const queue of openQueues(db, names, now)) {
    const due = queue.hasReadyJob ? 0 : queue.dueAt;
    if (due === null || queue.openAt === Number.POSITIVE_INFINITY) continue;
    const at = Math.max(due, queue.openAt);
    earliest = Math.min(earliest ?? at, at);
  }
  return earliest;
}

function nextTick(db: Connection): number | null {
  const row = db.get(nextTickSql)!;
  return row.releasable === 1 ? 0 : (row.next_at as number | null);
}
