import { DatabaseSync } from 'node:sqlite';
import { QueueError } from '../../core/errors.ts';
import type { Connection } from './connection.ts';
import first from './migrations/001-first.ts';
import control from './migrations/002-control.ts';
import retentionAndHooks from './migrations/003-retention-and-hooks.ts';
import schedules from './migrations/004-schedules.ts';
import policy from './migrations/005-policy.ts';
import unique from './migrations/006-unique.ts';
import dependencies from './migrations/007-dependencies.ts';
import events from './migrations/008-events.ts';
import restOfAJob from './migrations/009-rest-of-a-job.ts';
import idempotencyAndAging from './migrations/010-idempotency-and-aging.ts';
import countedInserts from './migrations/011-counted-inserts.ts';
import retries from './migrations/012-retries.ts';
import rollups from './migrations/013-rollups.ts';
import jobsByName from './migrations/014-jobs-by-name.ts';
import fewerIndexes from './migrations/015-fewer-indexes.ts';
import deadJobs from './migrations/016-dead-jobs.ts';
import cleanEnv from './migrations/017-clean-env.ts';
import durations from './migrations/018-durations.ts';
import { schemaObjects, tables } from './sql/care.ts';
import views from './views.ts';

/** Numbered from 1, forward only. A released one is never edited: a new one is added. */
const MIGRATIONS = [
  first,
  control,
  retentionAndHooks,
  schedules,
  policy,
  unique,
  dependencies,
  events,
  restOfAJob,
  idempotencyAndAging,
  countedInserts,
  retries,
  rollups,
  jobsByName,
  fewerIndexes,
  deadJobs,
  cleanEnv,
  durations,
];
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Marks the file as ours: "qctl". */
export const APPLICATION_ID = 0x7163746c;

/** Brings the file to this version's schema. Safe when many processes do it at once: one works, the others find it done. */
export async function migrate(connection: Connection): Promise<void> {
  if ((await connection.read(() => version(connection))) === SCHEMA_VERSION) return;
  await connection.write('migrate', () => {
    const from = version(connection);
    for (const sql of MIGRATIONS.slice(from)) connection.exec(sql);
    if (from < SCHEMA_VERSION) {
      connection.exec(views());
      connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
    }
  });
}

/** The objects of this version's schema, each as JSON. */
export function expectedSchema(): string[] {
  const db = freshDatabase(':memory:');
  const objects = db.prepare(schemaObjects).all();
  db.close();
  return objects.map((one) => JSON.stringify(one));
}

/** What a new store looks like before anything is in it. */
export function freshDatabase(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  for (const sql of [...MIGRATIONS, views()]) db.exec(sql);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
  return db;
}

/** How many columns each table had when it came: rows of that time have no more. */
export function firstColumns(): Map<string, number> {
  const db = new DatabaseSync(':memory:');
  const columns = new Map<string, number>();
  for (const sql of MIGRATIONS) {
    db.exec(sql);
    for (const { name, ncol } of db.prepare(tables).all())
      if (!columns.has(name as string)) columns.set(name as string, ncol as number);
  }
  db.close();
  return columns;
}

/**
 * The schema version of a file of ours, 0 for an empty one. Emptiness is read first and the version last: a rival that
 * creates the schema in between then only makes the file look newer, never foreign.
 */
export function version(connection: Connection): number {
  const empty = isEmpty(connection);
  const ours = connection.pragma('application_id') === APPLICATION_ID;
  if (!empty && !ours) {
    throw new QueueError('not-a-database', `${connection.path} is an SQLite database of another program`);
  }
  return ours ? refuseNewer(connection) : 0;
}

/** A file may be migrated by a newer queuectl while this one has it open. */
export function refuseNewer(connection: Connection): number {
  const found = connection.get('PRAGMA user_version')!.user_version as number;
  if (found > SCHEMA_VERSION) {
    throw new QueueError(
      'newer-schema',
      `${connection.path} has schema version ${found}; this version of queuectl supports versions up to ${SCHEMA_VERSION}`,
    );
  }
  return found;
}

function isEmpty(connection: Connection): boolean {
  return connection.get('SELECT 1 FROM sqlite_schema LIMIT 1') === undefined;
}
