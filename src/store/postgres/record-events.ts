import type { NewEvent } from '../../core/rules/events.ts';
import { detailText } from '../steps.ts';
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
