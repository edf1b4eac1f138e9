import { type QueueRoom, toQueueRoom } from '../queue-rows.ts';
import * as sql from './sql/claims.ts';
import type { Transaction } from './transaction.ts';

/** A queue that is not paused and has waiting jobs. */
export interface OpenQueue extends QueueRoom {
  hasReadyJob: boolean;
  dueAt: number | null;
}

export async function openQueues(tx: Transaction, names: string[] | null, now: number): Promise<OpenQueue[]> {
  return (await tx.all(sql.openQueues, names)).map((row) => ({
    ...toQueueRoom(row, now),
    hasReadyJob: row.ready === 1,
    dueAt: row.due_at as number | null,
  }));
}
