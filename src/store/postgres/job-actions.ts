import type { JobActionStore } from '../contract/job-actions.ts';
import type { Connection } from './connection.ts';
import { unwritten } from './unwritten.ts';

export function jobActionStore(_db: Connection): JobActionStore {
  return unwritten('job-actions', ['retry', 'keyHolder', 'remove', 'cancel', 'hold', 'release', 'edit']);
}
