import { QueueError } from '../../core/errors.ts';
import type { Connection } from './connection.ts';

/** The schema version that schema.ts creates. Stores of older versions come from before the first release. */
export const FIRST_VERSION = 22;
/** The newest schema version. It is written out, so that commands do not load the migrations. */
export const SCHEMA_VERSION = 26;

/** Marks a file as a database of queuectl. These are the ASCII codes of "qctl". */
export const APPLICATION_ID = 0x7163746c;

/** One statement, because a schema that another process creates between two reads would look like that of another program. */
const IDENTITY_SQL = `SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema) AS is_empty,
  (SELECT application_id FROM pragma_application_id) AS application_id`;

/** Returns the schema version of a queuectl database, or 0 for an empty file. Throws if the database is of another program. */
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

/** Returns the schema version. Throws if it is higher than `known`, as after a newer queuectl has migrated the open file. */
export function readSupportedVersion(connection: Connection, known = SCHEMA_VERSION): number {
  const found = connection.get('PRAGMA user_version')!.user_version as number;
  if (found <= known) return found;
  throw new QueueError(
    'newer-schema',
    `${connection.path} has schema version ${found}; this version of queuectl supports versions up to ${known}`,
  );
}

/** Returns the schema version `found`. Throws if the file has to be migrated before this version of queuectl can use it. */
export function refuseOlder(connection: Connection, found: number): number {
  if (found === 0 || found === SCHEMA_VERSION) return found;
  refuseUnreleased(connection, found);
  throw new QueueError(
    'older-schema',
    `${connection.path} has schema version ${found}; this version of queuectl needs version ${SCHEMA_VERSION}`,
  );
}

/** Returns the schema version `found`. Throws if it is from before the first release, because no migration starts there. */
export function refuseUnreleased(connection: Connection, found: number): number {
  if (found === 0 || found >= FIRST_VERSION) return found;
  throw new QueueError(
    'older-schema',
    `${connection.path} has schema version ${found}; this version of queuectl supports versions from ${FIRST_VERSION} on`,
    'export it with the older queuectl (queuectl export FILE), move it away, then run queuectl import FILE',
  );
}
