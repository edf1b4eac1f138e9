import type { OpenQueue } from './queue-rows.ts';
import type { Row } from './row.ts';

/** A ready job at the front of its queue. */
export interface Head {
  number: number;
  /** The job's priority plus what priority aging has added to it. */
  rank: number;
  queue: OpenQueue;
}

export function byRank(a: Head, b: Head): number {
  return b.rank - a.rank || a.number - b.number;
}

/** Ranks jobs of one priority. No job ranks higher than an older one, so their order of enqueueing stays. */
export function rankHeads(
  rows: Row[],
  priority: number,
  queue: OpenQueue,
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
