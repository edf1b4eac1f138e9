import type { Connection, Row } from './connection.ts';
import { claimableQueues } from './sql/claims.ts';

/** A queue that is not paused and has waiting jobs. It may start `room` more jobs now. */
export interface OpenQueue {
  number: number;
  ready: boolean;
  dueAt: number | null;
  room: number;
  /** The number of jobs that its rate limit allows now. Null if it has none. */
  tokens: number | null;
  /** The time at which its rate limit allows the next job. Infinity if the queue is full. */
  openAt: number;
  /** The waiting time for which a job gains one priority. Null means no aging. */
  agingMs: number | null;
}

export function openQueues(db: Connection, names: string[] | null, now: number): OpenQueue[] {
  const rows = db.all(claimableQueues);
  const served = rows.filter((row) => names === null || names.includes(row.name as string));
  return served.map((row) => toOpenQueue(row, now));
}

function toOpenQueue(row: Row, now: number): OpenQueue {
  const limit = row.concurrency as number | null;
  const free = limit === null ? Number.POSITIVE_INFINITY : limit - ((row.running as number | null) ?? 0);
  const { tokens, openAt } = rateOf(row, now);
  return {
    number: row.number as number,
    ready: row.ready === 1,
    dueAt: row.due_at as number | null,
    room: Math.max(0, Math.min(free, tokens === null ? free : Math.floor(tokens))),
    tokens,
    // A full queue opens when one of its jobs ends, and that time is unknown.
    openAt: free <= 0 ? Number.POSITIVE_INFINITY : openAt,
    agingMs: row.aging_ms as number | null,
  };
}

/** Unused tokens of at most this time are saved up, so that a rate limit allows no large burst. */
const BURST_MS = 100;

/** Fills the token bucket of a rate limit. If the clock was set back, the bucket counts as full instead of staying empty. */
function rateOf(row: Row, now: number): { tokens: number | null; openAt: number } {
  const rate = row.rate as number | null;
  if (rate === null) return { tokens: null, openAt: 0 };
  const perMs = rate / (row.rate_ms as number);
  const full = Math.max(1, perMs * BURST_MS);
  const at = row.tokens_at as number | null;
  const tokens = at === null || at > now ? full : Math.min(full, (row.tokens as number) + (now - at) * perMs);
  return { tokens, openAt: tokens >= 1 ? 0 : now + Math.ceil((1 - tokens) / perMs) };
}
