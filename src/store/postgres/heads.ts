import { type Head, rankHeads } from '../head-rows.ts';
import type { QueueRoom } from '../queue-rows.ts';
import type { Row } from '../row.ts';
import type { OpenQueue } from './open-queues.ts';
import * as sql from './sql/claims.ts';
import type { Transaction } from './transaction.ts';

/** In a queue with aging, a claim reads jobs of at most this many of the highest priorities, and of this many others. */
const HIGHEST_PRIORITIES = 32;
const OTHER_PRIORITIES = 32;

/** The last of the other priorities that a claim has read, by queue and offer. The next claim continues below it. */
export type LastPriorities = Map<string, number>;

interface AgedRequest {
  offer: string | null;
  most: number;
  now: number;
  lastPriorities: LastPriorities;
}

/** Returns the first ready jobs of each queue that a worker can take, at most `most` of each queue and offer, in any order. */
export async function headsOf(
  tx: Transaction,
  queues: OpenQueue[],
  offers: string[],
  most: number,
  now: number,
  lastPriorities: LastPriorities,
): Promise<Head[]> {
  const plain = queues.filter((queue) => queue.agingMs === null);
  const byNumber = new Map(plain.map((queue) => [queue.number, queue]));
  const numbers = [...byNumber.keys()];
  const placed = plain.filter((queue) => queue.hasPlacedJob).map((queue) => queue.number);
  const [rows, placedRows, ...aged] = await Promise.all([
    numbers.length === 0 ? [] : tx.all(sql.readyHeads(most), numbers),
    placed.length === 0 ? [] : tx.all(sql.placedHeads(most), placed, offers),
    ...queues.flatMap((queue) =>
      queue.agingMs === null
        ? []
        : [null, ...(queue.hasPlacedJob ? offers : [])].map((offer) =>
            agedHeads(tx, queue, queue.agingMs!, { offer, most, now, lastPriorities }),
          ),
    ),
  ]);
  const heads = [...rows, ...placedRows].map((row) => ({
    number: row.number as number,
    rank: row.priority as number,
    queue: byNumber.get(row.queue as number)!,
  }));
  return [...heads, ...aged.flat()];
}

/**
 * Returns the heads of a queue with priority aging: the first jobs of each priority that ask for `offer`, or for nothing. If too many priorities have ready jobs, a
 * claim reads the highest and some of the others, and later claims read the rest.
 */
async function agedHeads(
  tx: Transaction,
  queue: QueueRoom,
  agingMs: number,
  { offer, most, now, lastPriorities }: AgedRequest,
): Promise<Head[]> {
  const key = `${queue.number} ${offer ?? ''}`;
  const statement = offer === null ? sql.readyHeadsByPriority(most) : sql.placedHeadsByPriority(most);
  const asked = offer === null ? [] : [offer];
  const read = async (below: number, priorities: number): Promise<Map<number, Row[]>> =>
    Map.groupBy(
      await tx.all(statement, queue.number, below, priorities, ...asked),
      (row) => row.priority as number,
    );
  const highest = await read(Number.MAX_SAFE_INTEGER, HIGHEST_PRIORITIES);
  const found = [...highest];
  if (highest.size === HIGHEST_PRIORITIES) {
    const lowest = Math.min(...highest.keys());
    const others = await read(Math.min(lastPriorities.get(key) ?? lowest, lowest), OTHER_PRIORITIES);
    if (others.size === OTHER_PRIORITIES) lastPriorities.set(key, Math.min(...others.keys()));
    else lastPriorities.delete(key);
    found.push(...others);
  }
  return found.flatMap(([priority, rows]) => rankHeads(rows, priority, queue, agingMs, now));
}
