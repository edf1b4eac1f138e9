import { QueueError } from '../../core/errors.ts';
import type { Settlement } from '../contract/claims.ts';
import type { Transaction } from './transaction.ts';

export async function settleAll(_tx: Transaction, settlements: Settlement[]): Promise<void> {
  if (settlements.length > 0) throw new QueueError('internal', 'PostgreSQL: settle is not written yet');
}
