import { QueueError } from '../../core/errors.ts';
import type { StoreKind } from '../open.ts';
import { openPostgres, peekPostgres } from './open.ts';

export const POSTGRES: StoreKind = {
  open: (location, options) => openPostgres(location, options),
  peek: (location) => peekPostgres(location),
  care: refuseFileCare,
  mustNotClose: () => false,
};

/** The files of a PostgreSQL server are not the business of queuectl. */
async function refuseFileCare(): Promise<never> {
  throw new QueueError(
    'store-unavailable',
    'this command works on the file of a database, and this queue is in PostgreSQL',
    'to back up: pg_dump --schema NAME. To restore: pg_restore',
  );
}
