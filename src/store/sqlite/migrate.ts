import { DatabaseSync } from 'node:sqlite';
import { QueueError } from '../../core/errors.ts';
import type { Connection } from './connection.ts';
import schema from './schema.ts';
import { schemaObjects, tableColumnCounts } from './sql/care.ts';
import views from './views.ts';

/** The schema version that schema.ts creates. Stores of older versions come from before the first release. */
const FIRST_VERSION = 20;
/** The SQL of each migration, oldest first. A released migration never changes. */
const MIGRATIONS: readonly string[] = [];
export const SCHEMA_VERSION = FIRST_VERSION + MIGRATIONS.length;

/** Marks a file as a database of queuectl. These are the ASCII codes of "qctl". */
export const APPLICATION_ID = 0x7163746c;

/**
 * Brings a file to the newest schema version. Many processes may do this at once: one migrates, and the others wait and then
 * have nothing to do. Tests pass their own migrations.
 */
export async function migrate(connection: Connection, migrations = MIGRATIONS): Promise<void> {
  const newest = FIRST_VERSION + migrations.length;
  const checkedVersion = (): number => refuseUnreleased(connection, readVersion(connection, newest));
  if ((await connection.read(checkedVersion)) === newest) return;
  await connection.write('migrate', () => {
    const from = checkedVersion();
    if (from === newest) return;
    for (const sql of from === 0 ? [schema, ...migrations] : migrations.slice(from - FIRST_VERSION))
      connection.exec(sql);
    connection.exec(views());
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${newest}`);
  });
}

/** Returns the objects of this version's schema, each as JSON. */
export function expectedSchema(): string[] {
  const db = freshDatabase(':memory:');
  const objects = db.prepare(schemaObjects).all();
  db.close();
  return objects.map((one) => JSON.stringify(one));
}

/** Creates a new, empty store. */
export function freshDatabase(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  for (const sql of [schema, ...MIGRATIONS, views()]) db.exec(sql);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
  return db;
}

/** Returns the number of columns that each table was created with. Rows that were written before a migration may have only these. */
export function originalColumnCounts(): Map<string, number> {
  const db = new DatabaseSync(':memory:');
  const columns = new Map<string, number>();
  for (const sql of [schema, ...MIGRATIONS]) {
    db.exec(sql);
    for (const { name, ncol } of db.prepare(tableColumnCounts).all())
      if (!columns.has(name as string)) columns.set(name as string, ncol as number);
  }
  db.close();
  return columns;
}

/**
 * Returns the schema version of a queuectl database, or 0 for an empty file. Throws if the database belongs to another program.
 * Reads whether the file is empty before the application id, because another process may create the schema in between.
 */
export function readVersion(connection: Connection, known = SCHEMA_VERSION): number {
  const isEmpty = connection.get('SELECT 1 FROM sqlite_schema LIMIT 1') === undefined;
  const ours = connection.pragma('application_id') === APPLICATION_ID;
  if (!isEmpty && !ours)
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
