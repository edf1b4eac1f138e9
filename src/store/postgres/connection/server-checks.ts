import { QueueError } from '../../../core/errors.ts';
import { readVersion } from '../schema-version.ts';
import type { Client } from './client.ts';
import { type PostgresLocation, quoteName } from './location.ts';
import type { ServerClock } from './server-clock.ts';

/** PostgreSQL supports a version for five years. This is the oldest one that it will support at our release. */
const OLDEST_VERSION = 15;

const SERVER_SQL = `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
  pg_is_in_recovery() AS standby, current_setting('default_transaction_read_only') AS read_only,
  current_setting('server_encoding') AS encoding, extract(epoch FROM clock_timestamp()) AS seconds`;

/**
 * Throws if a queue cannot be kept on this server: it is too old, a standby, read-only, or its texts are not UTF-8. Sets
 * `clock` to the time of the server.
 */
export async function refuseServer(client: Client, clock?: ServerClock): Promise<void> {
  const sentAt = performance.now();
  const { version, number, standby, read_only, encoding, seconds } = (await client.query(SERVER_SQL)).rows[0];
  clock?.learn(seconds * 1000, sentAt, performance.now());
  const refuse = (what: string, hint: string): never => {
    throw new QueueError('store-unavailable', what, hint);
  };
  if (number < OLDEST_VERSION * 10_000)
    refuse(
      `PostgreSQL ${version} is too old; queuectl needs version ${OLDEST_VERSION} or newer`,
      'upgrade the server, or use another one',
    );
  if (standby === 1) refuse('the PostgreSQL server is a standby', 'use the URL of the primary server');
  if (read_only === 'on')
    refuse(
      'the PostgreSQL server is read-only',
      'set default_transaction_read_only = off, or use another server',
    );
  if (encoding !== 'UTF8')
    refuse(
      `the database has the encoding ${encoding}`,
      'use a database that was created with the encoding UTF8',
    );
}

/** Throws if the schema has tables of another program, because those of the queue must not be mixed with them. */
export async function refuseForeignTables(client: Client, location: PostgresLocation): Promise<void> {
  const { schema } = location;
  const { rows } = await client.query(
    'SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace($1)::oid LIMIT 1',
    [quoteName(schema)],
  );
  // Another process may have created the queue meanwhile.
  if (rows.length === 0 || (await readVersion(client, location)).version > 0) return;
  throw new QueueError(
    'not-a-database',
    `the schema '${schema}' has tables of another program`,
    'use another schema in the URL: ?schema=NAME. Nothing was changed',
  );
}
