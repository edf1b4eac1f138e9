import { queueChanged } from '../../core/queue.ts';
import type { Queue, Store } from '../store.ts';
import type { Connection, Row } from './connection.ts';
import { record, recordOfQueue } from './events.ts';
import * as sql from './sql.ts';

type QueueVerbs = Pick<Store, 'queues' | 'setQueue' | 'removeQueue'>;

export function queueVerbs(db: Connection): QueueVerbs {
  return {
    queues: () => db.read(() => db.all(sql.queues).map(toQueue)),
    setQueue: (name, changes) =>
      db.write('setQueue', () => {
        const number = queueNumber(db, name);
        const { paused, concurrency, rate, agingMs } = changes;
        const before = toQueue(db.get(sql.queueByName, name)!);
        if (paused !== undefined) db.run(sql.pauseQueue, paused?.at ?? null, paused?.by ?? null, number);
        if (concurrency !== undefined) db.run(sql.limitQueue, concurrency, number);
        if (rate !== undefined) db.run(sql.rateQueue, rate?.jobs ?? null, rate?.perMs ?? null, number);
        if (agingMs !== undefined) db.run(sql.ageQueue, agingMs, number);
        for (const what of queueChanged(changes, before.pausedAt !== null)) recordOfQueue(db, what, number);
        return toQueue(db.get(sql.queueByName, name)!);
      }),
    removeQueue: (name) =>
      db.write('removeQueue', () => {
        const number = db.get(sql.queueNumber, name)?.number as number | undefined;
        if (number === undefined) return 'absent';
        if (db.get(sql.anyJobOfQueue, number) !== undefined) return 'has-jobs';
        db.run(sql.deleteRollups, number);
        db.run(sql.deleteKinds, number);
        db.run(sql.deleteQueue, number);
        db.run(sql.deleteCounters, number);
        db.run(sql.nameInEvents, name, number);
        record(db, { kind: 'queue-deleted', detail: { queue: name } });
        return 'removed';
      }),
  };
}

/** A queue comes into being by use. */
export function queueNumber(db: Connection, name: string): number {
  const found = db.get(sql.queueNumber, name);
  return found === undefined ? db.lastNumber(sql.insertQueue, name) : (found.number as number);
}

function toQueue(row: Row): Queue {
  const rate = row.rate as number | null;
  return {
    name: row.name as string,
    pausedAt: row.paused_at as number | null,
    pausedBy: row.paused_by as string | null,
    concurrency: row.concurrency as number | null,
    rate: rate === null ? null : { jobs: rate, perMs: row.rate_ms as number },
    agingMs: row.aging_ms as number | null,
  };
}

/** A queue that may be claimed from: not paused, and with room for `room` more jobs now. */
export interface OpenQueue {
  number: number;
  ready: boolean;
  dueAt: number | null;
  room: number;
  /** What is left of its rate; null: it has none. */
  tokens: number | null;
  /** When its rate allows the next job. */
  openAt: number;
  /** So long a job waits for each priority it gains; null: waiting gains nothing. */
  agingMs: number | null;
}

export function openQueues(db: Connection, names: string[] | null, now: number): OpenQueue[] {
  const rows = db.all(sql.claimableQueues);
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
    // A full queue opens when a job of it ends, which nobody can foretell.
    openAt: free <= 0 ? Number.POSITIVE_INFINITY : openAt,
    agingMs: row.aging_ms as number | null,
  };
}

/** A rate is kept over stretches of this length: what is saved up beyond it is lost, so there is no burst. */
const STRETCH_MS = 100;

/** A bucket that fills evenly. A clock set back must not dry it up for as long: then it counts as full. */
function rateOf(row: Row, now: number): { tokens: number | null; openAt: number } {
  const rate = row.rate as number | null;
  if (rate === null) return { tokens: null, openAt: 0 };
  const perMs = rate / (row.rate_ms as number);
  const full = Math.max(1, perMs * STRETCH_MS);
  const at = row.tokens_at as number | null;
  const tokens = at === null || at > now ? full : Math.min(full, (row.tokens as number) + (now - at) * perMs);
  return { tokens, openAt: tokens >= 1 ? 0 : now + Math.ceil((1 - tokens) / perMs) };
}
