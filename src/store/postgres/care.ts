import type { CareStore } from '../contract/care.ts';
import type { Connection } from './connection.ts';
import { unwritten } from './unwritten.ts';

/** Implements the methods of this part that move the contents of a store. store.ts has the others. */
export function careStore(_db: Connection): Pick<CareStore, 'renew' | 'dump' | 'load'> {
  return unwritten('care', ['renew', 'dump', 'load']);
}
