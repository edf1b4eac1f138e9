import type { Connection, Row } from './connection.ts';
import type { OpenQueue } from './open-queues.ts';
import * as sql from './sql/claims.ts';

/** A job that could be taken next from its queue. */
export interface Head {
  number: number;
  /** Its priority, with what it has gained by waiting. */
  rank: number;
  queue: OpenQueue;
}

export function byRank(a: Head, b: Head): number {
  return b.rank - a.rank || a.number - b.number;
}

/** The jobs of a queue that come first, at most so many. */
export function headsOf(db: Connection, queue: OpenQueue, most: number, now: number): Head[] {
  if (queue.agingMs !== null) return agedHeads(db, queue, queue.agingMs, most, now);
  return db.all(sql.readyHeads, queue.number, most).map((row) => ({
    number: row.number as number,
    rank: row.priority as number,
    queue,
  }));
}

/** So many priorities are looked at: the highest of them, and some of the others in turn. */
const HIGHEST = 32;
const OTHERS = 32;

/** Where the next look at the others begins, by connection and queue. */
const turns = new WeakMap<Connection, Map<number, number>>();

/**
 * The heads of every priority that waits in the queue: few, and each is found by a step over the index, whatever stands
 * between them. Should they be many after all, no claim looks at every one, and yet each gets its turn.
 */
function agedHeads(db: Connection, queue: OpenQueue, agingMs: number, most: number, now: number): Head[] {
  const heads: Head[] = [];
  const next = (below: number): number | null =>
    (db.get(sql.readyPriorityBelow, queue.number, below)?.priority as number | undefined) ?? null;
  const add = (priority: number): void => {
    const rows = db.all(sql.readyHeadsOfPriority, queue.number, priority, most);
    heads.push(...ranked(rows, priority, queue, agingMs, now));
  };
  let priority = next(Number.MAX_SAFE_INTEGER);
  for (let n = 0; priority !== null && n < HIGHEST; n++) {
    add(priority);
    priority = next(priority);
  }
  if (priority !== null) {
    const begin = turnsOf(db).get(queue.number);
    let other: number | null = begin === undefined ? priority : next(Math.min(begin, priority + 1));
    for (let n = 0; other !== null && n < OTHERS; n++) {
      add(other);
      turnsOf(db).set(queue.number, other);
      other = next(other);
    }
    if (other === null) turnsOf(db).delete(queue.number);
  }
  return heads.sort(byRank).slice(0, most);
}

function turnsOf(db: Connection): Map<number, number> {
  if (!turns.has(db)) turns.set(db, new Map());
  return turns.get(db)!;
}

/** Within one priority the order stays that of enqueueing: nobody ranks higher than who stands before it. */
function ranked(rows: Row[], priority: number, queue: OpenQueue, agingMs: number, now: number): Head[] {
  let highest = Number.POSITIVE_INFINITY;
  return rows.map((row) => {
    const gained = Math.floor(Math.max(0, now - (row.since as number)) / agingMs);
    highest = Math.min(highest, priority + gained);
    return { number: row.number as number, rank: highest, queue };
  });
}
