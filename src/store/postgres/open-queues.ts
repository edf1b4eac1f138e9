import type { Row } from '../row.ts';
import { type QueueRoom, toQueueRoom } from '../rows.ts';

/** A queue that is not paused and has waiting jobs. */
export interface WaitingQueue extends QueueRoom {
  /** The place of the first of its ready jobs, in the order of claims. */
  firstReady: [priority: number, number: number] | null;
  dueAt: number | null;
}

/** The place before all jobs of a queue, and one that has no jobs after it. */
const START = [Number.MAX_SAFE_INTEGER, 0] as const;
const NOWHERE = [null, null] as const;

export const isDue = ({ dueAt }: WaitingQueue, now: number): boolean => dueAt !== null && dueAt <= now;

/**
 * Returns the values of a statement that reads the ready jobs of these queues: their numbers, and the place in each from which it reads.
 * Jobs that this transaction makes ready may come before the first one that was found.
 */
export function startsOf(queues: WaitingQueue[], now: number): (number | null)[][] {
  const starts = queues.map((queue) => (isDue(queue, now) ? START : (queue.firstReady ?? NOWHERE)));
  return [
    queues.map((queue) => queue.number),
    starts.map(([priority]) => priority),
    starts.map(([, number]) => number),
  ];
}

export const toOpenQueue = (row: Row, now: number): WaitingQueue => ({
  ...toQueueRoom(row, now),
  firstReady: row.first_number === null ? null : [row.first_priority as number, row.first_number as number],
  dueAt: row.due_at as number | null,
});
