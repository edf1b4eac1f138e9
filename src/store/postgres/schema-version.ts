import { QueueError } from '../../core/errors.ts';
import type { Client } from './client.ts';
import { type PostgresLocation, quoteName } from './location.ts';

/** The schema version that schema.ts creates. */
export const FIRST_VERSION = 1;
/** The SQL of each migration, oldest first. A released migration never changes. */
export const MIGRATIONS: readonly string[] = [];
export const SCHEMA_VERSION = FIRST_VERSION + MIGRATIONS.length;

/** Reads the catalog. `to_regclass` may answer from memory, and then does not see what was created while a lock was awaited. */
const META_SQL = `SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE nspname = $1 AND relname = 'meta'`;

/** Returns the schema version, or 0 if the schema has no queue. Changes nothing. */
export async function readVersion(client: Client, { schema: name }: PostgresLocation): Promise<number> {
  const { rows: found } = await client.query(META_SQL, [name]);
  if (found.length === 0) return 0;
  const { rows } = await client.query(`SELECT value FROM ${quoteName(name)}.meta WHERE key = 'schema'`);
  return Number(rows[0]?.value ?? 0);
}

/** Returns the error for a schema without a queue. */
export function noQueue({ name }: PostgresLocation): QueueError {
  return new QueueError(
    'store-unavailable',
    `there is no queue at ${name}`,
    'check the database and ?schema= in the URL. To create a queue there: queuectl enqueue',
  );
}

/** Throws if the schema is newer than this version of queuectl supports, as after a newer queuectl has migrated it. */
export function refuseNewer(found: number, { name }: PostgresLocation, known = SCHEMA_VERSION): void {
  if (found <= known) return;
  throw new QueueError(
    'newer-schema',
    `${name} has schema version ${found}; this version of queuectl supports versions up to ${known}`,
  );
}

/** Throws if the schema has to be migrated before this version of queuectl can use it. */
export function refuseOlder(found: number, { name }: PostgresLocation): void {
  if (found === 0 || found >= SCHEMA_VERSION) return;
  throw new QueueError(
    'older-schema',
    `${name} has schema version ${found}; this version of queuectl needs version ${SCHEMA_VERSION}`,
  );
}
