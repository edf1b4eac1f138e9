import { compareJobs, type Head, rankHeads } from '../head-rows.ts';
import type { QueueRoom } from '../queue-rows.ts';
import type { Connection } from './connection.ts';
import * as sql from './sql/claims.ts';

/**
 * Returns at most `most` ready jobs of a queue, in the order in which they are to be claimed. These are the jobs that ask for
 * `place`, or those that every worker can take if it is null.
 */
export function headsOf(
  db: Connection,
  queue: QueueRoom,
  most: number,
  now: number,
  place: string | null = null,
): Head[] {
  if (queue.agingMs !== null) return agedHeads(db, queue, queue.agingMs, most, now, place);
  const rows =
    place === null
      ? db.all(sql.readyHeads, queue.number, most)
      : db.all(sql.placedHeads, queue.number, place, most);
  return rows.map((row) => ({
    number: row.number as number,
    rank: row.priority as number,
    queue,
  }));
}

/** In a queue with aging, a claim reads jobs of at most this many of the highest priorities, and of this many others. */
const HIGHEST_PRIORITIES = 32;
const OTHER_PRIORITIES = 32;

/** The last of the other priorities that a claim has read, by connection, queue and place. The next claim continues below it. */
const lastReadPriorities = new WeakMap<Connection, Map<string, number>>();

/**
 * Returns the heads of a queue with priority aging. It reads the first jobs of each priority, with an index. If too many
 * priorities have ready jobs, a claim reads the highest and some of the others, and later claims read the rest.
 */
function agedHeads(
  db: Connection,
  queue: QueueRoom,
  agingMs: number,
  most: number,
  now: number,
  place: string | null,
): Head[] {
  const heads: Head[] = [];
  const [priorityBelow, headsOfPriority] =
    place === null
      ? [sql.readyPriorityBelow, sql.readyHeadsOfPriority]
      : [sql.placedPriorityBelow, sql.placedHeadsOfPriority];
  const which = place === null ? [queue.number] : [queue.number, place];
  const key = which.join(' ');
  const nextPriority = (below: number): number | null =>
    (db.get(priorityBelow, ...which, below)?.priority as number | undefined) ?? null;
  const add = (priority: number): void => {
    const rows = db.all(headsOfPriority, ...which, priority, most);
    heads.push(...rankHeads(rows, priority, queue, agingMs, now));
  };
  let priority = nextPriority(Number.MAX_SAFE_INTEGER);
  for (let n = 0; priority !== null && n < HIGHEST_PRIORITIES; n++) {
    add(priority);
    priority = nextPriority(priority);
  }
  if (priority !== null) {
    const lastPriority = lastReadOf(db).get(key);
    let other: number | null =
      lastPriority === undefined ? priority : nextPriority(Math.min(lastPriority, priority + 1));
    for (let n = 0; other !== null && n < OTHER_PRIORITIES; n++) {
      add(other);
      lastReadOf(db).set(key, other);
      other = nextPriority(other);
    }
    if (other === null) lastReadOf(db).delete(key);
  }
  return heads.sort(compareJobs).slice(0, most);
}

function lastReadOf(db: Connection): Map<string, number> {
  if (!lastReadPriorities.has(db)) lastReadPriorities.set(db, new Map());
  return lastReadPriorities.get(db)!;
}
