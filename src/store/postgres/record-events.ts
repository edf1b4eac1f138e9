import type { EventDetail, NewEvent } from '../../core/events.ts';
import * as sql from './sql/events.ts';
import type { Transaction } from './transaction.ts';

/** Records an event that belongs to no job. */
export async function recordEvent(
  tx: Transaction,
  { kind, detail }: NewEvent,
  actor = tx.actor,
): Promise<void> {
  await tx.run(sql.logEvent, tx.now(), kind, actor, null, null, null, detailText(detail));
}

export async function recordQueueEvent(
  tx: Transaction,
  { kind, detail }: NewEvent,
  queue: number,
): Promise<void> {
  await tx.run(sql.logEvent, tx.now(), kind, tx.actor, null, queue, null, detailText(detail));
}

/** Records an event of a job that changes neither its state nor its queue. For other changes see change-jobs.ts. */
export async function recordJobEvent(tx: Transaction, { kind, detail }: NewEvent, id: string): Promise<void> {
  await tx.run(sql.logJobEvent, tx.now(), kind, tx.actor, detailText(detail), id);
}

/** Records an event of an attempt. Without an actor it names the worker that holds the attempt. */
export async function recordAttemptEvent(
  tx: Transaction,
  { kind, detail }: NewEvent,
  attempt: number,
  actor: string | null = null,
): Promise<void> {
  await tx.run(sql.logAttemptEvent, tx.now(), kind, actor, detailText(detail), attempt);
}

export function detailText(detail: EventDetail | undefined): string | null {
  return detail === undefined ? null : JSON.stringify(detail);
}
