import { HOOK_QUEUE } from '../core/jobs/hooks.ts';
import { compareJobs, type Head } from './head-rows.ts';
import type { Row } from './row.ts';

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
