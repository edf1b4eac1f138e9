import type { EventDetail, NewEvent } from '../../core/rules/events.ts';
import type { Connection } from './connection.ts';
import * as sql from './sql/events.ts';

/** Records an event that belongs to no job. */
export function recordEvent(db: Connection, { kind, detail }: NewEvent, actor = db.actor): void {
  db.run(sql.recordEvent, db.now(), kind, actor, json(detail));
}

/** Records an event of a job whose queue is known. The job's row is not read and may be gone. */
export function recordKnownJobEvent(
  db: Connection,
  { kind, detail }: NewEvent,
  id: string,
  queue: number,
): void {
  db.run(sql.recordKnown, db.now(), kind, db.actor, id, queue, json(detail));
}

/** Records an event of an attempt. Without an actor it names the worker that holds the attempt. */
export function recordAttemptEvent(
  db: Connection,
  { kind, detail }: NewEvent,
  attempt: number,
  actor: string | null = null,
): void {
  db.run(sql.recordAttemptEvent, db.now(), kind, actor, json(detail), attempt);
}

function json(detail: EventDetail | undefined): string | null {
  return detail === undefined ? null : JSON.stringify(detail);
}
