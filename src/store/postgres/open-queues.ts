import { type OpenQueue, toOpenQueue } from '../queue-rows.ts';
import * as sql from './sql/claims.ts';
import type { Transaction } from './transaction.ts';

export async function openQueues(tx: Transaction, names: string[] | null, now: number): Promise<OpenQueue[]> {
  return (await tx.all(sql.openQueues, names)).map((row) => toOpenQueue(row, now));
}
