import { QueueError } from '../core/errors.ts';
import { openSqlite } from './sqlite/open.ts';
import type { Store } from './store.ts';

export interface OpenedStore {
  store: Store;
  /** Where attempts, the wake file and the logs of detached workers live. */
  stateDirectory: string;
  /** The file was made just now. */
  created: boolean;
  /** Something a person should know about this place. */
  warning: string | null;
}

export async function openStore(location: string, create: boolean): Promise<OpenedStore> {
  if (/^postgres(ql)?:/i.test(location)) {
    throw new QueueError(
      'store-unavailable',
      'this version of queuectl has no PostgreSQL store yet',
      'give --db the path of a file',
    );
  }
  return openSqlite(location, create);
}
