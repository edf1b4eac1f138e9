import type { JobOrder } from '../claim-order.ts';
import type { Row } from '../row.ts';
import { type QueueRoom, toQueueRoom } from '../rows.ts';
import type { Connection } from './connection.ts';
import * as sql from './sql/claims.ts';

/** A queue that is not paused. */
export interface OpenQueue extends QueueRoom {
  /** No ready job of the queue comes before this one. Null if it has none. */
  readyBound: JobOrder | null;
  /** No waiting job of the queue is due before this time. Null if it has none. */
  nextDueAt: number | null;
}

/** Most claims need only the first queues, so at first only this many are read. */
const FIRST_ROWS = 16;
const MORE_ROWS = 256;

/**
 * Returns the queues that may have a ready job, in the order of their bounds. The queues must not change meanwhile.
 */
export function* readyQueues(db: Connection, names: string[] | null, now: number): Iterable<OpenQueue> {
  for (const row of inParts(db, sql.readyQueues, sql.readyNamedQueues, names)) yield toOpenQueue(row, now);
}

/** Returns the queues that may have a waiting job which is due by a given time, in the order of their bounds. */
export function* dueQueues(
  db: Connection,
  names: string[] | null,
  now: number,
  until = now,
): Iterable<OpenQueue> {
  for (const row of inParts(db, sql.dueQueues, sql.dueNamedQueues, names, until)) yield toOpenQueue(row, now);
}

/** Reads the rows of one of two statements in parts, because the caller may need only the first ones. */
function* inParts(
  db: Connection,
  all: string,
  named: string,
  names: string[] | null,
  ...values: number[]
): Iterable<Row> {
  for (let [limit, offset] = [FIRST_ROWS, 0]; ; [limit, offset] = [MORE_ROWS, offset + limit]) {
    const rows =
      names === null
        ? db.all(all, ...values, limit, offset)
        : db.all(named, JSON.stringify(names), ...values, limit, offset);
    yield* rows;
    if (rows.length < limit) return;
  }
}

function toOpenQueue(row: Row, now: number): OpenQueue {
  return {
    ...toQueueRoom(row, now),
    readyBound:
      row.ready_job === null
        ? null
        : { priority: row.ready_priority as number, number: row.ready_job as number },
    nextDueAt: row.next_due_at as number | null,
  };
}
