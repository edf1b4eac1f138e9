import type { QueueRoom } from './queue-rows.ts';
import type { Row } from './row.ts';

/** The order of ready jobs: higher ranks first, then lower numbers. The rank is the priority plus what priority aging adds to it. */
export interface JobOrder {
  rank: number;
  number: number;
}

/** A ready job at the front of its queue. */
export interface Head extends JobOrder {
  queue: QueueRoom;
}

export function compareJobs(a: JobOrder, b: JobOrder): number {
  return b.rank - a.rank || a.number - b.number;
}

/** Ranks jobs of one priority. No job ranks higher than an older one, so their order of enqueueing stays. */
export function rankHeads(
  rows: Row[],
  priority: number,
  queue: QueueRoom,
  agingMs: number,
  now: number,
): Head[] {
  let highest = Number.POSITIVE_INFINITY;
  return rows.map((row) => {
    const gained = Math.floor(Math.max(0, now - (row.since as number)) / agingMs);
    highest = Math.min(highest, priority + gained);
    return { number: row.number as number, rank: highest, queue };
  });
}

/** Returns the jobs without those for which their queues have no room. The order of the jobs decides which ones these are. */
export function withinRoom(heads: Head[]): Head[] {
  const left = new Map<QueueRoom, number>();
  return heads.filter(({ queue }) => {
    const room = left.get(queue) ?? queue.room;
    left.set(queue, room - 1);
    return room > 0;
  });
}

/** Tells whether a queue has neither a concurrency limit nor a rate. Jobs are claimed ahead only from such queues. */
export function isUnlimited({ room }: QueueRoom): boolean {
  return room === Number.POSITIVE_INFINITY;
}

/**
 * Returns the jobs, the first `limit` of which are for free slots, without those that are to be claimed ahead although they are less
 * urgent than another one of the worker.
 */
export function urgentEnough(
  heads: Head[],
  { limit, aheadPriority }: { limit: number; aheadPriority?: number | null | undefined },
): Head[] {
  const least = Math.max(heads[0]?.rank ?? 0, aheadPriority ?? Number.NEGATIVE_INFINITY);
  return heads.filter(({ rank }, i) => i < limit || rank >= least);
}
