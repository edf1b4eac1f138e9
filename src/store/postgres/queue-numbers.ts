import type { Transaction } from './transaction.ts';

/** Returns the numbers of the queues with these names that exist. */
const SELECT_NUMBERS = 'SELECT number, name FROM queue WHERE name = ANY($1)';
/** Waits for a transaction that is creating or removing a queue with one of these names. */
const INSERT_QUEUES = `INSERT INTO queue (name) SELECT name FROM unnest($1::text[]) AS given (name) ORDER BY name
  ON CONFLICT DO NOTHING RETURNING number, name`;

/** Returns the number of each queue, and creates those that do not exist yet. */
export async function queueNumbers(tx: Transaction, names: string[]): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const add = (rows: { number: number; name: string }[]): void => {
    for (const { number, name } of rows) found.set(name, number);
  };
  const missing = (): string[] => names.filter((name) => !found.has(name));
  add(await tx.all(SELECT_NUMBERS, names));
  // Another transaction may create or remove a queue between these two statements.
  while (missing().length > 0) {
    add(await tx.all(INSERT_QUEUES, missing()));
    if (missing().length > 0) add(await tx.all(SELECT_NUMBERS, missing()));
  }
  return found;
}
