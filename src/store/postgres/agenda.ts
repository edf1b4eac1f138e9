import { toNextTick, toOrder, toWish } from '../agenda-rows.ts';
import type { Agenda, Wish } from '../contract/claims.ts';
import { type OpenQueue, openQueues } from './open-queues.ts';
import { wishes } from './sql/claims.ts';
import { nextTick } from './sql/schedules.ts';
import { stopOrder } from './sql/workers.ts';
import type { Transaction } from './transaction.ts';

/** Reads the agenda in one round trip. */
export async function readAgenda(
  tx: Transaction,
  workerId: string,
  queues: string[] | null,
  now: number,
  offers: string[],
): Promise<Agenda> {
  const [order, found, open, tick] = await Promise.all([
    tx.get(stopOrder, workerId),
    readWishes(tx, workerId),
    queues?.length === 0 ? [] : openQueues(tx, queues, offers, now),
    tx.get(nextTick),
  ]);
  return { order: toOrder(order), wishes: found, nextDue: toNextDue(open), nextTick: toNextTick(tick!) };
}

export async function readWishes(tx: Transaction, workerId: string): Promise<Wish[]> {
  return (await tx.all(wishes, workerId)).map(toWish);
}

/** Returns when the next job of these queues can be claimed. */
function toNextDue(queues: OpenQueue[]): number | null {
  let earliest: number | null = null;
  for (const queue of queues) {
    const due = queue.hasReadyJob || queue.hasPlacedJob ? 0 : queue.dueAt;
    if (due === null || queue.openAt === Number.POSITIVE_INFINITY) continue;
    const at = Math.max(due, queue.openAt);
    earliest = Math.min(earliest ?? at, at);
  }
  return earliest;
}
