import { QueueError } from '../../core/errors.ts';
import { refuseUnsupported, SCHEMA_VERSION } from '../schema/version.ts';
import type { Connection } from './connection.ts';

/** Marks a file as a database of queuectl. These are the ASCII codes of "qctl". */
export const APPLICATION_ID = 0x7163746c;

/** One statement, because a schema that another process creates between two reads would look like that of another program. */
const IDENTITY_SQL = `SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema) AS is_empty,
  (SELECT application_id FROM pragma_application_id) AS application_id`;

/**
 * Returns the schema version of a queuectl database, or 0 for an empty file. Throws if the database is of another program, or of a
 * version of queuectl that this one cannot read.
 */
export function readVersion(connection: Connection, known = SCHEMA_VERSION): number {
  // For a file that is known to be a queue, this is cheaper.
  if (connection.get('PRAGMA application_id')!.application_id === APPLICATION_ID)
    return readSupportedVersion(connection, known);
  const { is_empty, application_id } = connection.get(IDENTITY_SQL)!;
  const ours = application_id === APPLICATION_ID;
  if (is_empty === 0 && !ours)
    throw new QueueError('not-a-database', `${connection.path} is an SQLite database of another program`);
  return ours ? readSupportedVersion(connection, known) : 0;
}

/** Returns the schema version of a queuectl database. Throws if this version of queuectl cannot read it. */
export function readSupportedVersion(connection: Connection, known = SCHEMA_VERSION): number {
  const version = connection.get('PRAGMA user_version')!.user_version as number;
  refuseUnsupported({ version, oldest: version }, { name: connection.path, remove: 'move it away' }, known);
  return version;
}

/** The oldest safe version of SQLite. In older versions, a WAL reset under load can corrupt the file. */
export const OLDEST_SQLITE = '3.51.3';

export function isSafeSqliteVersion(version: string): boolean {
  const parts = version.split('.');
  const oldest = OLDEST_SQLITE.split('.');
  for (let i = 0; i < oldest.length; i++) {
    const difference = Number(parts[i] ?? 0) - Number(oldest[i]);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
