import { QueueError } from '../../core/errors.ts';
import type { StoredVersion } from '../schema/version.ts';
import type { ServerConnection, StoreIdentity } from './connection/connection.ts';
import type { Transaction } from './connection/transaction.ts';
import { parseVersion, refuseUnsupported } from './schema-version.ts';

/** Epochs and store ids become parts of paths and are compared with the cookies of processes. */
const NAME_PATTERN = /^[0-9a-f]{12}$/;

interface Meta extends StoreIdentity {
  version: StoredVersion;
}

async function readMeta(tx: Transaction): Promise<Meta> {
  const rows = await tx.all<{ key: string; value: string }>('SELECT key, value FROM meta');
  const meta = new Map(rows.map(({ key, value }) => [key, value]));
  const name = (key: string): string => {
    const value = meta.get(key) ?? '';
    if (NAME_PATTERN.test(value)) return value;
    throw new QueueError(
      'store-corrupt',
      `the queue is damaged: '${value.slice(0, 40)}' is not a valid ${key} (12 hex digits)`,
      'restore a backup made by pg_dump, with pg_restore, and then run queuectl db renew',
    );
  };
  return {
    version: parseVersion(meta.get('schema')),
    store: name('store'),
    epoch: name('epoch'),
    origin: meta.has('origin') ? name('origin') : null,
  };
}

/** Reads the names of the store again, after it was opened or renewed. */
export async function readIdentity(db: ServerConnection): Promise<void> {
  const { version: _, ...identity } = await db.read(readMeta);
  Object.assign(db.identity, identity);
}

/** Throws if the store can no longer be used. */
export async function checkStore(db: ServerConnection): Promise<void> {
  const { version, store, epoch } = await db.read(readMeta);
  refuseUnsupported(version, db.location);
  if (store === db.identity.store && epoch === db.identity.epoch) return;
  throw new QueueError(
    'store-unavailable',
    `${db.location.name} was replaced while in use`,
    'run the command again',
  );
}
