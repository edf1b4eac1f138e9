import { DatabaseSync } from 'node:sqlite';
import type { Connection } from './connection.ts';
import { MIGRATIONS } from './migrations.ts';
import schema from './schema.ts';
import {
  APPLICATION_ID,
  FIRST_VERSION,
  readVersion,
  refuseUnreleased,
  SCHEMA_VERSION,
} from './schema-version.ts';
import { schemaObjects, tableColumnCounts } from './sql/care.ts';
import views from './views.ts';

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
