import type { Connection } from './connection.ts';
import * as sql from './sql/queues.ts';

export function readSettings(db: Connection): Map<string, string> {
  const settings = new Map<string, string>();
  for (const row of db.all(sql.settings)) settings.set(row.key as string, row.value as string);
  return settings;
}

/** Returns the number of a queue, and creates the queue on first use. */
export function queueNumber(db: Connection, name: string): number {
  const found = db.get(sql.queueNumber, name);
  return found === undefined ? db.insert(sql.insertQueue, name) : (found.number as number);
}
