import type { RetentionStore } from '../contract/retention.ts';
import type { Connection } from './connection.ts';
import { unwritten } from './unwritten.ts';

export function retentionStore(_db: Connection): RetentionStore {
  return unwritten('retention', ['prune', 'prunable', 'forgetKeys']);
}
