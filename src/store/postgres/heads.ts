import { type Head, rankHeads } from '../head-rows.ts';
import type { QueueRoom } from '../queue-rows.ts';
import type { Row } from '../row.ts';
import * as sql from './sql/claims.ts';
import type { Transaction } from './transaction.ts';

/** In a queue with aging, a claim reads jobs of at most this many of the highest priorities, and of this many others. */
const HIGHEST_PRIORITIES = 32;
const OTHER_PRIORITIES = 32;

/** The last of the other priorities that a claim has read, by queue. The next claim continues below it. */
export type LastPriorities = Map<number, number>;

/** Returns the first ready jobs of each queue, at most `most` of each, in any order. */
export async function headsOf(
  tx: Transaction,
  queues: QueueRoom[],
  most: number,
  now: number,
  lastPriorities: LastPriorities,
): Promise<Head[]> {
  const plain = queues.filter((queue) => queue.agingMs === null);
  const byNumber = new Map(plain.map((queue) => [queue.number, queue]));
  const numbers = [...byNumber.keys()];
  const [rows, ...aged] = await Promise.all([
    numbers.length === 0 ? [] : tx.all(sql.readyHeads(most), numbers),
    ...queues.map((queue) =>
      queue.agingMs === null ? [] : agedHeads(tx, queue, queue.agingMs, most, now, lastPriorities),
    ),
  ]);
  const heads = rows.map((row) => ({
    number: row.number as number,
    rank: row.priority as number,
    queue: byNumber.get(row.queue as number)!,
  }));
  return [...heads, ...aged.flat()];
}

/**
 * Returns the heads of a queue with priority aging: the first jobs of each priority. If too many priorities have ready jobs, a
 * claim reads the highest and some of the others, and later claims read the rest.
 */
async function agedHeads(
  tx: Transaction,
  queue: QueueRoom,
  agingMs: number,
  most: number,
  now: number,
  lastPriorities: LastPriorities,
): Promise<Head[]> {
  const read = async (below: number, priorities: number): Promise<Map<number, Row[]>> =>
    Map.groupBy(
      await tx.all(sql.readyHeadsByPriority(most), queue.number, below, priorities),
      (row) => row.priority as number,
    );
  const highest = await read(Number.MAX_SAFE_INTEGER, HIGHEST_PRIORITIES);
  const found = [...highest];
  if (highest.size === HIGHEST_PRIORITIES) {
    const lowest = Math.min(...highest.keys());
    const others = await read(Math.min(lastPriorities.get(queue.number) ?? lowest, lowest), OTHER_PRIORITIES);
    if (others.size === OTHER_PRIORITIES) lastPriorities.set(queue.number, Math.min(...others.keys()));
    else lastPriorities.delete(queue.number);
    found.push(...others);
  }
  return found.flatMap(([priority, rows]) => rankHeads(rows, priority, queue, agingMs, now));
}
