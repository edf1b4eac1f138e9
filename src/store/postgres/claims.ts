import type { ClaimStore } from '../contract/claims.ts';
import type { Connection } from './connection.ts';
import { unwritten } from './unwritten.ts';

export function claimStore(_db: Connection): ClaimStore {
  return unwritten('claims', [
    'claim',
    'nextDue',
    'busyQueues',
    'settle',
    'mark',
    'adopt',
    'runningJobs',
    'endReasons',
    'seal',
    'storeSeal',
  ]);
}
