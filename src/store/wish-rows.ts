import type { EndReason } from '../core/job.ts';
import { JOB_SIGNALS } from '../core/signals.ts';
import type { Wish } from './contract/claims.ts';
import type { Row } from './row.ts';
import { toClaim } from './rows.ts';

export function toWish(row: Row): Wish {
  const signal = JOB_SIGNALS.find((one) => one === row.signal) ?? null;
  return { claim: toClaim(row), end: row.end_reason as EndReason | null, signal };
}
