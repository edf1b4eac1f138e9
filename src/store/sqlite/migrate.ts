import { QueueError } from '../../core/errors.ts';
import type { Connection } from './connection.ts';
import first from './migrations/001-first.ts';

/** Numbered from 1, forward only. A released one is never edited: a new one is added. */
const MIGRATIONS = [first];
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Marks the file as ours: "qctl". */
export const APPLICATION_ID = 0x7163746c;

/** Brings the file to this version's schema. Safe when many processes do it at once: one works, the others find it done. */
export async function migrate(connection: Connection): Promise<void> {
  if (version(connection) === SCHEMA_VERSION) return;
  await connection.write(() => {
    const from = version(connection);
    for (const sql of MIGRATIONS.slice(from)) connection.exec(sql);
    if (from < SCHEMA_VERSION) {
      connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
    }
  });
}

function version(connection: Connection): number {
  const found = connection.pragma('user_version');
  const owner = connection.pragma('application_id');
  if (owner !== APPLICATION_ID && !isEmpty(connection)) {
    throw new QueueError('not-a-database', `${connection.path} is a SQLite database of another program`);
  }
  if (found > SCHEMA_VERSION) {
    throw new QueueError(
      'newer-schema',
      `${connection.path} has schema version ${found}; this queuectl knows versions up to ${SCHEMA_VERSION}`,
    );
  }
  return found;
}

function isEmpty(connection: Connection): boolean {
  return connection.get('SELECT 1 FROM sqlite_schema LIMIT 1') === undefined;
}
