import { type QueueRoom, toQueueRoom } from '../queue-rows.ts';
import * as sql from './sql/claims.ts';
import type { Transaction } from './transaction.ts';

/** A queue that is not paused and has waiting jobs. */
export interface OpenQueue extends QueueRoom {
  /** Tells whether it has ready jobs that every worker can take. */
  hasReadyJob: boolean;
  /** Tells whether it has ready jobs that ask for one of the offers of the worker. */
  hasPlacedJob: boolean;
  dueAt: number | null;
}

export async function openQueues(
  tx: Transaction,
  names: string[] | null,
  offers: string[],
  now: number,
): Promise<OpenQueue[]> {
  return (await tx.all(sql.openQueues, names, offers)).map((row) => ({
    ...toQueueRoom(row, now),
    hasReadyJob: row.ready === 1,
    hasPlacedJob: row.placed === 1,
    dueAt: row.due_at as number | null,
  }));
}
