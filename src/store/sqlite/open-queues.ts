import { type OpenQueue, toOpenQueue } from '../queue-rows.ts';
import type { Connection } from './connection.ts';
import { claimableQueues } from './sql/claims.ts';

export function openQueues(db: Connection, names: string[] | null, now: number): OpenQueue[] {
  const rows = db.all(claimableQueues);
  const served = rows.filter((row) => names === null || names.includes(row.name as string));
  return served.map((row) => toOpenQueue(row, now));
}
