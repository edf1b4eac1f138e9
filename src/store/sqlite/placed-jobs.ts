import { compareJobs, type Head, isUnlimited, withinRoom } from '../head-rows.ts';
import type { Connection } from './connection.ts';
import { headsOf } from './heads.ts';
import { type OpenQueue, openQueue } from './open-queues.ts';
import * as sql from './sql/claims.ts';

/* Placed jobs are those that ask for a label or a host (`runs_on`). */

interface PlacedRequest {
  queues: string[] | null;
  offers: string[];
  limit: number;
  ahead: number;
}

/** Adds the placed jobs that a worker can take to the other ones, and returns all in order. No queue gets more than it has room for. */
export function withPlacedHeads(
  db: Connection,
  heads: Head[],
  { queues, offers, limit, ahead }: PlacedRequest,
  now: number,
): Head[] {
  // All jobs of a queue share its room, so they refer to the same object.
  const known = new Map(heads.map(({ queue }) => [queue.number, queue]));
  const placed = offers.flatMap((offer) =>
    queuesOfPlace(db, offer).flatMap((number) => {
      const queue = known.get(number) ?? openQueue(db, number, queues, now);
      if (queue === null) return [];
      known.set(number, queue);
      const most = Math.min(limit + (isUnlimited(queue) ? ahead : 0), queue.room);
      return most <= 0 ? [] : headsOf(db, queue, most, now, offer);
    }),
  );
  return withinRoom([...heads, ...placed].sort(compareJobs));
}

/** Returns the open queues in which a placed job waits that a worker with these offers can take. */
export function openQueuesWithPlaced(
  db: Connection,
  offers: string[],
  names: string[] | null,
  now: number,
): OpenQueue[] {
  const numbers = new Set(offers.flatMap((offer) => queuesOfPlace(db, offer)));
  return [...numbers].map((number) => openQueue(db, number, names, now)).filter((queue) => queue !== null);
}

/** Returns the names of the queues that are not paused and have ready placed jobs that ask for one of `offers`, or for anything. */
export function namesOfPlacedQueues(db: Connection, offers: string[] | null): string[] {
  const numbers = new Set<number>();
  for (let [place, queue] = ['', 0]; ; ) {
    const next = db.get(sql.nextPlace, place, queue);
    if (next === undefined) break;
    [place, queue] = [next.runs_on as string, next.queue as number];
    if (offers === null || offers.includes(place)) numbers.add(queue);
  }
  if (numbers.size === 0) return [];
  return db.all(sql.openQueueNames, JSON.stringify([...numbers])).map((row) => row.name as string);
}

/** Returns the numbers of the queues with ready jobs that ask for this. */
function queuesOfPlace(db: Connection, place: string): number[] {
  const numbers: number[] = [];
  for (let last = 0; ; numbers.push(last)) {
    const next = db.get(sql.nextQueueOfPlace, place, last)!.queue as number | null;
    if (next === null) return numbers;
    last = next;
  }
}
