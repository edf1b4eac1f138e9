import { availableTokens, type Rate, type Tokens } from '../../core/rate.ts';
import type { Connection, Row } from './connection.ts';
import * as sql from './sql/claims.ts';

/** A queue that is not paused. It may start `room` more jobs now. */
export interface OpenQueue {
  number: number;
  /** No ready job of the queue comes before this one. Null if it has none. */
  readyBound: JobOrder | null;
  /** No waiting job of the queue is due before this time. Null if it has none. */
  nextDueAt: number | null;
  room: number;
  /** The number of jobs that its rate limit allows now. Null if it has no rate limit. */
  tokens: number | null;
  /** The time at which its rate limit allows the next job. Infinity while the queue is at its concurrency limit. */
  openAt: number;
  /** The waiting time for which a job gains one priority. Null means no aging. */
  agingMs: number | null;
}

/** The order of ready jobs: higher ranks first, then lower numbers. The rank is the priority plus what priority aging adds to it. */
export interface JobOrder {
  rank: number;
  number: number;
}

export function compareJobs(a: JobOrder, b: JobOrder): number {
  return b.rank - a.rank || a.number - b.number;
}

/** Most claims need only the first queues, so at first only this many are read. */
const FIRST_ROWS = 16;
const MORE_ROWS = 256;

/**
 * Returns the queues that may have a ready job: first those with priority aging, then the others, in the order of their bounds. The
 * queues must not change meanwhile.
 */
export function* readyQueues(db: Connection, names: string[] | null, now: number): Iterable<OpenQueue> {
  for (const row of inParts(db, sql.readyQueues, sql.readyNamedQueues, names)) yield toOpenQueue(row, now);
}

/** Returns the queues that may have a waiting job which is due by a given time, in the order of their bounds. */
export function* dueQueues(
  db: Connection,
  names: string[] | null,
  now: number,
  until = now,
): Iterable<OpenQueue> {
  for (const row of inParts(db, sql.dueQueues, sql.dueNamedQueues, names, until)) yield toOpenQueue(row, now);
}

/** Reads the rows of one of two statements in parts, because the caller may need only the first ones. */
function* inParts(
  db: Connection,
  all: string,
  named: string,
  names: string[] | null,
  ...values: number[]
): Iterable<Row> {
  for (let [limit, offset] = [FIRST_ROWS, 0]; ; [limit, offset] = [MORE_ROWS, offset + limit]) {
    const rows =
      names === null
        ? db.all(all, ...values, limit, offset)
        : db.all(named, JSON.stringify(names), ...values, limit, offset);
    yield* rows;
    if (rows.length < limit) return;
  }
}

function toOpenQueue(row: Row, now: number): OpenQueue {
  const limit = row.concurrency as number | null;
  const free = limit === null ? Number.POSITIVE_INFINITY : limit - ((row.running as number | null) ?? 0);
  const { rate, tokens: left } = toRate(row);
  const { tokens, openAt } = rate === null ? { tokens: null, openAt: 0 } : availableTokens(rate, left, now);
  return {
    number: row.number as number,
    readyBound:
      row.ready_job === null ? null : { rank: row.ready_priority as number, number: row.ready_job as number },
    nextDueAt: row.next_due_at as number | null,
    room: Math.max(0, Math.min(free, tokens === null ? free : Math.floor(tokens))),
    tokens,
    // A queue at its concurrency limit opens when one of its jobs ends, and that time is unknown.
    openAt: free <= 0 ? Number.POSITIVE_INFINITY : openAt,
    agingMs: row.aging_ms as number | null,
  };
}

/** Returns the rate of a queue, and what is left of it. */
export function toRate(row: Row): { rate: Rate | null; tokens: Tokens | null } {
  const [jobs, at] = [row.rate as number | null, row.tokens_at as number | null];
  return {
    rate: jobs === null ? null : { jobs, perMs: row.rate_ms as number },
    tokens: at === null ? null : { left: row.tokens as number, at },
  };
}
