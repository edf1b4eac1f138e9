import type { EndReason } from '../core/jobs/job.ts';
import { JOB_SIGNALS, STOP_ORDERS, type StopOrder } from '../core/signals.ts';
import type { Wish } from './contract/claims.ts';
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

export function toNextTick(row: Row): number | null {
  return row.releasable === 1 ? 0 : (row.next_at as number | null);
}
