import { HOOK_QUEUE } from '../core/jobs/hooks.ts';
import type { Row } from './row.ts';
import type { QueueRoom } from './rows.ts';

/** The order of ready jobs: higher priorities first, then lower numbers. */
export interface JobOrder {
  priority: number;
  number: number;
}

/** A ready job at the front of its queue. */
export interface Head extends JobOrder {
  queue: QueueRoom;
}

export function compareJobs(a: JobOrder, b: JobOrder): number {
  return b.priority - a.priority || a.number - b.number;
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

/** Returns the first `limit` jobs, and `ahead` of the others, up to the first one of a queue with a limit. No job overtakes that one. */
export function firstOf(heads: Head[], limit: number, ahead: number): Head[] {
  const limited = heads.findIndex((head, i) => i >= limit && !isUnlimited(head.queue));
  return heads.slice(0, limited < 0 ? limit + ahead : Math.min(limit + ahead, limited + 1));
}

/** Returns the queues of these jobs that have a rate limit, and the tokens that each has left after their start. */
export function tokensAfter(taken: Head[]): { queue: QueueRoom; tokens: number }[] {
  return [...new Set(taken.map(({ queue }) => queue))].flatMap((queue) => {
    if (queue.tokens === null) return [];
    return { queue, tokens: queue.tokens - taken.filter((head) => head.queue === queue).length };
  });
}

/** Tells whether a queue has neither a concurrency limit nor a rate. Jobs are claimed ahead only from such queues. */
export function isUnlimited({ room }: QueueRoom): boolean {
  return room === Number.POSITIVE_INFINITY;
}

/**
 * Returns the jobs, the first `limit` of which are for free slots, without those that are to be claimed ahead although their queue has
 * a limit, or although they are less urgent than another one of the worker.
 */
export function urgentEnough(
  heads: Head[],
  { limit, aheadPriority }: { limit: number; aheadPriority?: number | null | undefined },
): Head[] {
  const least = Math.max(heads[0]?.priority ?? 0, aheadPriority ?? Number.NEGATIVE_INFINITY);
  return heads.filter(({ priority, queue }, i) => i < limit || (priority >= least && isUnlimited(queue)));
}

/** Another worker that takes jobs, and how many more it can run. Null means every queue. */
export interface FreeWorker {
  queues: string[] | null;
  free: number;
}

/** Returns the workers that have a free slot. Those that serve few queues come first. */
export function toFreeWorkers(rows: Row[]): FreeWorker[] {
  return rows
    .map(({ queues, free }) => ({
      queues: queues === null ? null : (JSON.parse(queues as string) as string[]),
      free: Number(free),
    }))
    .filter(({ free }) => free > 0)
    .sort((a, b) => (a.queues?.length ?? Infinity) - (b.queues?.length ?? Infinity) || 0);
}

/** Returns the queues that the workers serve. Null means every queue. */
export function servedBy(workers: FreeWorker[]): string[] | null {
  const lists = workers.map(({ queues }) => queues);
  return lists.every((list) => list !== null) ? lists.flat() : null;
}

/** Returns those of the jobs that the workers can start now, in order. */
export function startableBy(workers: FreeWorker[], heads: Head[]): Head[] {
  const left = workers.map(({ free }) => free);
  return heads.toSorted(compareJobs).filter(({ queue: { name } }) => {
    const found = workers.findIndex(
      ({ queues }, i) => left[i]! > 0 && (queues === null || name === HOOK_QUEUE || queues.includes(name)),
    );
    if (found >= 0) left[found]!--;
    return found >= 0;
  });
}

/**
 * Returns the jobs that a worker may take so that there is room for more urgent jobs of others, or all of them if it leaves no room. Also
 * returns the most urgent job for which it leaves room, or would leave it.
 */
export function besideOthers(others: Head[], own: Head[], room: number, leavesRoom = true) {
  const count = own.findIndex(
    (job, i) => i + others.filter((other) => compareJobs(other, job) < 0).length >= room,
  );
  if (count < 0) return { taken: own, leftRoomFor: null };
  return { taken: leavesRoom ? own.slice(0, count) : own, leftRoomFor: others[0]! };
}
