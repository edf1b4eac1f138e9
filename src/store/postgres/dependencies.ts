import { QueueError } from '../../core/errors.ts';
import type { Transaction } from './transaction.ts';

/**
 * Adds the dependencies of new jobs, and handles the parents that have already ended. `keyHolders` maps the id of a job that
 * was not added, because its unique key is taken, to the id of the job that has the key.
 */
export async function addDependencies(
  _tx: Transaction,
  _childIds: string[],
  _keyHolders: ReadonlyMap<string, string>,
  _now: number,
): Promise<void> {
  throw new QueueError('internal', 'PostgreSQL: dependencies are not written yet');
}

export interface EndedParent {
  number: number;
  id: string;
  end: string;
}

export async function handleParentEnds(
  _tx: Transaction,
  _ended: EndedParent[],
  _now: number,
): Promise<{ met: number; cancelled: string[] }> {
  return { met: 0, cancelled: [] };
}

export async function reopenDependencies(_tx: Transaction, _ids: string[]): Promise<void> {}
