import { QueueError } from '../../core/errors.ts';
import { refuseUnsupported as refuseVersion, type StoredVersion } from '../schema/version.ts';
import type { Client } from './connection/client.ts';
import { type PostgresLocation, quoteName } from './connection/location.ts';

/** Returns the text of both numbers that is stored in `meta`, under the key `schema`. Every writing transaction reads it. */
export const versionText = ({ version, oldest }: StoredVersion): string => `${version} ${oldest}`;

export function parseVersion(text: unknown): StoredVersion {
  const [version = 0, oldest = version] = String(text ?? '0')
    .split(' ')
    .map(Number);
  return { version, oldest };
}

/** Reads the catalog. `to_regclass` may answer from memory, and then does not see what was created while a lock was awaited. */
const META_SQL = `SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE nspname = $1 AND relname = 'meta'`;

/** Returns the version of the schema. Changes nothing. */
export async function readVersion(
  client: Client,
  { schema: name }: PostgresLocation,
): Promise<StoredVersion> {
  const { rows: found } = await client.query(META_SQL, [name]);
  if (found.length === 0) return parseVersion(null);
  const { rows } = await client.query(`SELECT value FROM ${quoteName(name)}.meta WHERE key = 'schema'`);
  return parseVersion(rows[0]?.value);
}

/** Returns the error for a schema without a queue. */
export function noQueue({ name }: PostgresLocation): QueueError {
  return new QueueError(
    'store-unavailable',
    `there is no queue at ${name}`,
    'check the database and ?schema= in the URL. To create a queue there: queuectl enqueue',
  );
}

/** Throws if the schema has a version that this version of queuectl cannot use. */
export function refuseUnsupported(found: StoredVersion, { name }: PostgresLocation, known?: number): void {
  const upgrade =
    'upgrade queuectl on this host, and start its workers again. They take over the jobs that still run here';
  refuseVersion(found, { name, remove: 'drop or rename the schema', upgrade }, known);
}
