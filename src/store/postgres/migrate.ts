import type { Client } from './client.ts';
import { randomName } from './identity.ts';
import { type PostgresLocation, quoteName } from './location.ts';
import schema from './schema.ts';
import {
  FIRST_VERSION,
  MIGRATIONS,
  type Migration,
  newestVersion,
  readVersion,
  refuseUnsupported,
  SCHEMA_VERSION,
  type StoredVersion,
  versionText,
} from './schema-version.ts';

/**
 * Brings a schema to the newest version. Many processes may do this at once: one migrates, and the others wait and then have
 * nothing to do. A newer schema that this program can use stays. Returns the version that the schema had. Tests pass their own
 * migrations.
 */
export async function migrate(
  client: Client,
  location: PostgresLocation,
  migrations = MIGRATIONS,
): Promise<StoredVersion> {
  const newest = newestVersion(migrations).version;
  const lock = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';
  await client.query('BEGIN');
  try {
    await client.query(lock, [`queuectl migrate ${location.schema}`]);
    const from = await readVersion(client, location);
    refuseUnsupported(from, location, newest);
    if (from.version < newest) await client.query(statements(location, from.version, migrations).join(';\n'));
    await client.query('COMMIT');
    return from;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

/** Returns the SQL that brings a schema from a version to the newest one. 0 means that the schema is empty or missing. */
function statements(location: PostgresLocation, from: number, migrations: readonly Migration[]): string[] {
  const name = quoteName(location.schema);
  const newest = versionText(newestVersion(migrations));
  const textOf = (sql: string): string => sql.trim().replace(/;$/, '');
  if (from === 0)
    return [
      `CREATE SCHEMA IF NOT EXISTS ${name}`,
      `SET LOCAL search_path = ${name}, pg_temp`,
      ...[schema, ...migrations.map(({ sql }) => sql)].map(textOf),
      `INSERT INTO meta VALUES ('epoch', '${randomName()}'), ('store', '${randomName()}'), ('schema', '${newest}')`,
    ];
  return [
    `SET LOCAL search_path = ${name}, pg_temp`,
    // Every write reads this table first, so those that have begun end before the migration, and others wait for it.
    'LOCK TABLE meta IN ACCESS EXCLUSIVE MODE',
    ...migrations.slice(from - FIRST_VERSION).map(({ sql }) => textOf(sql)),
    `UPDATE meta SET value = '${newest}' WHERE key = 'schema'`,
  ];
}

/**
 * Returns the SQL that an administrator can run in place of `migrate`, for a role that may not create tables. It lets the role of
 * the location use them. The script is empty if there is nothing to do.
 */
export function migrationSql(location: PostgresLocation, from: number): string {
  if (from >= SCHEMA_VERSION) return '';
  const all = [...statements(location, from, MIGRATIONS), ...grants(location)];
  return `BEGIN;\n${all.join(';\n')};\nCOMMIT;\n`;
}

function grants({ schema: name, user }: PostgresLocation): string[] {
  const [inSchema, role] = [quoteName(name), quoteName(user)];
  return [
    `GRANT USAGE ON SCHEMA ${inSchema} TO ${role}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${inSchema} TO ${role}`,
    `GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA ${inSchema} TO ${role}`,
  ];
}
