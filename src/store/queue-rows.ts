import { availableTokens, type Rate, type Tokens } from '../core/rules/queue.ts';
import type { QueueRow } from './contract/queues.ts';
import type { Row } from './row.ts';

/** A queue that is not paused. It may start `room` more jobs now. */
export interface QueueRoom {
  number: number;
  name: string;
  room: number;
  /** The number of jobs that its rate limit allows now. Null if it has no rate limit. */
  tokens: number | null;
  /** The time for which `tokens` holds. */
  tokensAt: number;
  /** The time at which its rate limit allows the next job. Infinity while the queue is at its concurrency limit. */
  openAt: number;
}

export function toQueueRoom(row: Row, now: number): QueueRoom {
  const limit = row.concurrency as number | null;
  const free = limit === null ? Number.POSITIVE_INFINITY : limit - ((row.running as number | null) ?? 0);
  const { rate, tokens: left } = toRate(row);
  const { tokens, openAt, at } =
    rate === null ? { tokens: null, openAt: 0, at: now } : availableTokens(rate, left, now);
  return {
    number: row.number as number,
    name: row.name as string,
    room: Math.max(0, Math.min(free, tokens === null ? free : Math.floor(tokens))),
    tokens,
    tokensAt: at,
    // A queue at its concurrency limit opens when one of its jobs ends, and that time is unknown.
    openAt: free <= 0 ? Number.POSITIVE_INFINITY : openAt,
  };
}

/** Returns the rate of a queue, and what is left of it. */
function toRate(row: Row): { rate: Rate | null; tokens: Tokens | null } {
  const [jobs, at] = [row.rate as number | null, row.tokens_at as number | null];
  return {
    rate: jobs === null ? null : { jobs, perMs: row.rate_ms as number },
    tokens: at === null ? null : { left: row.tokens as number, at },
  };
}

export function toQueue({ rate, rate_ms, tokens, tokens_at, ...rest }: Row): QueueRow {
  return { ...rest, ...toRate({ rate, rate_ms, tokens, tokens_at } as Row) } as unknown as QueueRow;
}
