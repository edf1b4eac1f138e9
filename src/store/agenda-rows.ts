import type { EndReason } from '../core/job.ts';
import { JOB_SIGNALS } from '../core/signals.ts';
import { STOP_ORDERS, type StopOrder } from '../core/stop-order.ts';
import type { Wish } from './contract/claims.ts';
import type { OpenQueue } from './queue-rows.ts';
import type { Row } from './row.ts';
import { toClaim } from './rows.ts';

/** Returns the stop order in the row of a worker. */
export function toOrder(row: Row | undefined): StopOrder | null {
  return row === undefined ? null : (STOP_ORDERS[(row.stop_order as number) - 1] ?? null);
}

export function toWish(row: Row): Wish {
  const signal = JOB_SIGNALS.find((one) => one === row.signal) ?? null;
  return { claim: toClaim(row), end: row.end_reason as EndReason | null, signal };
}

/** Returns when the next job of these queues can be claimed. */
export function toNextDue(queues: OpenQueue[]): number | null {
  let earliest: number | null = null;
  for (const queue of queues) {
    const due = queue.hasReadyJob ? 0 : queue.dueAt;
    if (due === null || queue.openAt === Number.POSITIVE_INFINITY) continue;
    const at = Math.max(due, queue.openAt);
    earliest = Math.min(earliest ?? at, at);
  }
  return earliest;
}

export function toNextTick(row: Row): number | null {
  return row.releasable === 1 ? 0 : (row.next_at as number | null);
}
