import * as sql from './sql/queues.ts';
import type { Transaction } from './transaction.ts';

export async function readSettings(tx: Transaction): Promise<Map<string, string>> {
  const rows = await tx.all<{ key: string; value: string }>(sql.settings);
  return new Map(rows.map(({ key, value }) => [key, value]));
}

/** Returns the number of each queue, and creates those that do not exist yet. */
export async function queueNumbers(tx: Transaction, names: string[]): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const add = (rows: { number: number; name: string }[]): void => {
    for (const { number, name } of rows) found.set(name, number);
  };
  const missing = (): string[] => names.filter((name) => !found.has(name));
  add(await tx.all(sql.queueNumbers, names));
  // Another transaction may create or remove a queue between these two statements.
  while (missing().length > 0) {
    add(await tx.all(sql.insertQueues, missing()));
    if (missing().length > 0) add(await tx.all(sql.queueNumbers, missing()));
  }
  return found;
}
