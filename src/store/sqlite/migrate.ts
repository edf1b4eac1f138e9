import { mkdirSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { makeBallast } from '../../state/ballast.ts';
import { stateBeside } from '../../state/state-directory.ts';
import { MIGRATIONS, newestVersion, statementsFrom } from '../schema/migrations.ts';
import { SCHEMA_VERSION } from '../schema/version.ts';
import type { Connection } from './connection.ts';
import { SQLITE_SCHEMA } from './schema.ts';
import { APPLICATION_ID, readVersion } from './schema-version.ts';
import { schemaObjects } from './sql/care.ts';

/**
 * Brings a file to the newest schema version. Many processes may do this at once: one migrates, and the others wait and then
 * have nothing to do. Tests pass their own migrations.
 */
export async function migrate(connection: Connection, migrations = MIGRATIONS): Promise<void> {
  const { version: newest } = newestVersion(migrations);
  if ((await connection.read(() => readVersion(connection, newest))) === newest) return;
  await connection.write('migrate', () => {
    const from = readVersion(connection, newest);
    if (from === newest) return;
    for (const sql of statementsFrom(from, SQLITE_SCHEMA, migrations)) connection.exec(sql);
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${newest}`);
  });
}

/** Does the same, and then makes the ballast, because the disk may be full before the first worker makes it. */
export async function createOrMigrate(connection: Connection): Promise<void> {
  await migrate(connection);
  const state = stateBeside(connection.path);
  mkdirSync(state.attempts, { recursive: true, mode: 0o700 });
  makeBallast(state);
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
  for (const sql of statementsFrom(0, SQLITE_SCHEMA)) db.exec(sql);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
  return db;
}
