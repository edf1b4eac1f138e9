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

/** Only to read from, for what must neither make nor change a store: null when there is none of this version. */
export async function peekStore(location: string): Promise<Store | null> {
  if (isPostgres(location)) return null;
  const { peekSqlite } = await import('./sqlite/peek.ts');
  return peekSqlite(location);
}

/** `actor`: who acts through it, for the events. */
export async function openStore(
  location: string,
  create: boolean,
  actor: string | null,
): Promise<OpenedStore> {
  if (isPostgres(location)) {
    throw new QueueError(
      'store-unavailable',
      'this version of queuectl has no PostgreSQL store yet',
      'give --db the path of a file',
    );
  }
  return openSqlite(location, create, actor);
}

function isPostgres(location: string): boolean {
  return /^postgres(ql)?:/i.test(location);
}
