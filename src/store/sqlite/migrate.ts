import { mkdirSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { endedAgingNotes, movedLabelsNotes } from '../../core/jobs/removed-names.ts';
import { makeBallast } from '../../state/ballast.ts';
import { stateBeside } from '../../state/state-directory.ts';
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
import { schemaObjects } from './sql/care.ts';
import views from './views.ts';

/**
 * Brings a file to the newest schema version. Many processes may do this at once: one migrates, and the others wait and then
 * have nothing to do. Returns what the owner of the store should know. Tests pass their own migrations.
 */
export async function migrate(connection: Connection, migrations = MIGRATIONS): Promise<string[]> {
  const newest = FIRST_VERSION + migrations.length;
  const checkedVersion = (): number => refuseUnreleased(connection, readVersion(connection, newest));
  if ((await connection.read(checkedVersion)) === newest) return [];
  return connection.write('migrate', () => {
    const from = checkedVersion();
    if (from === newest) return [];
    const notes = from === 0 ? [] : notesOn(connection, from);
    for (const sql of from === 0 ? [schema, ...migrations] : migrations.slice(from - FIRST_VERSION))
      connection.exec(sql);
    connection.exec(views());
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${newest}`);
    return notes;
  });
}

/** Returns what the owner of a store of version `from` should know about its migration. */
function notesOn(connection: Connection, from: number): string[] {
  const namesBefore = (version: number, sql: string): string[] =>
    from < version ? connection.all(sql).map((row) => String(row.name)) : [];
  return [
    ...movedLabelsNotes(namesBefore(25, labelsInUse)),
    ...endedAgingNotes(namesBefore(26, 'SELECT name FROM queue WHERE aging_ms IS NOT NULL ORDER BY name')),
  ];
}

const labelsInUse = `SELECT runs_on AS name FROM job WHERE runs_on IS NOT NULL AND state <> 'completed'
  UNION SELECT job ->> 'runsOn' FROM schedule WHERE iif(json_valid(job), job ->> 'runsOn', NULL) IS NOT NULL ORDER BY name`;

/** Does the same, and then makes the ballast, because the disk may be full before the first worker makes it. */
export async function createOrMigrate(connection: Connection): Promise<string[]> {
  const notes = await migrate(connection);
  const state = stateBeside(connection.path);
  mkdirSync(state.attempts, { recursive: true, mode: 0o700 });
  makeBallast(state);
  return notes;
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
