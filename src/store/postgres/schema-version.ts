import { QueueError } from '../../core/errors.ts';
import type { Client } from './client.ts';
import { ENQUEUE_FUNCTION } from './enqueue-function.ts';
import { type PostgresLocation, quoteName } from './location.ts';
import { VIEWS } from './views.ts';

/** A change of the schema that leads to the next version. */
export interface SchemaMigration {
  /** The statements. `:schema` stands for the name of the schema, with quotes. */
  sql: string;
  /**
   * Tells whether programs of the version before can still use the store, so that the hosts can be upgraded one after the other.
   * They must not need what the change removes, nor leave out what it requires. Otherwise they refuse the store after it.
   */
  keepsPrograms: boolean;
}

/** The version of a schema. Both numbers are 0 if the schema has no queue. */
export interface StoredVersion {
  version: number;
  /** Programs that know this version, or a newer one, can use the store. */
  oldest: number;
}

/** The schema version that schema.ts creates. Stores of version 1 come from before the first release. */
export const FIRST_VERSION = 2;
/** All migrations, oldest first. A released migration never changes. */
export const MIGRATIONS: readonly SchemaMigration[] = [
  // What the claim of a running attempt has changed in its job, as a JSON object. NULL means that it follows from the attempt.
  { sql: `ALTER TABLE attempt ADD COLUMN job_before text COLLATE "C"`, keepsPrograms: true },
  // Older programs lock a fold in another way, so they must not fold beside newer ones.
  { sql: ENQUEUE_FUNCTION + VIEWS, keepsPrograms: false },
  // Earlier versions stored a value here that was also in a file of the host, and the last `worker stop`. New stores never had both.
  {
    sql: `ALTER TABLE host DROP COLUMN IF EXISTS seal, DROP COLUMN IF EXISTS seal_after;
      DELETE FROM meta WHERE key = 'stop'`,
    keepsPrograms: false,
  },
  /*
   * A job could ask for a worker with a label, or of a host. Now it is in a queue of that name. Completed jobs stay in their queues,
   * because they never run again.
   */
  {
    sql: `DROP INDEX job_placed;
      DROP INDEX job_ready;
      INSERT INTO queue (name) SELECT DISTINCT runs_on FROM job WHERE runs_on IS NOT NULL AND state <> 'completed' ON CONFLICT DO NOTHING;
      WITH before AS (SELECT job.number, job.queue AS old_queue, wanted.number AS new_queue FROM job JOIN queue AS wanted ON wanted.name = runs_on
          WHERE state <> 'completed' AND wanted.number <> job.queue),
        moved AS (UPDATE job SET queue = new_queue FROM before WHERE job.number = before.number RETURNING old_queue, new_queue, state, bytes)
        INSERT INTO log (at, jobs, old_queue, old_state, old_bytes, new_queue, new_state, new_bytes)
        SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, count(*), old_queue, state, sum(bytes)::bigint,
          new_queue, state, sum(bytes)::bigint FROM moved GROUP BY old_queue, new_queue, state;
      UPDATE schedule SET job = (jsonb_set(job::jsonb, '{queue}', coalesce(nullif(job::jsonb -> 'runsOn', 'null'), job::jsonb -> 'queue',
        '"default"')) - 'runsOn')::text WHERE job::jsonb ? 'runsOn';
      ALTER TABLE job DROP COLUMN runs_on;
      ALTER TABLE worker DROP COLUMN labels;
      CREATE INDEX job_ready ON job (queue, priority DESC, number) WHERE phase = 'ready'`,
    keepsPrograms: false,
  },
  // A queue could raise the priority of its waiting jobs from time to time.
  { sql: 'ALTER TABLE queue DROP COLUMN aging_ms', keepsPrograms: false },
];
export const SCHEMA_VERSION = FIRST_VERSION + MIGRATIONS.length;

/** Returns the newest version, and the oldest one whose programs can use it. */
export function newestVersion(migrations = MIGRATIONS): StoredVersion {
  const version = FIRST_VERSION + migrations.length;
  const breaking = migrations.findLastIndex((one) => !one.keepsPrograms);
  return { version, oldest: FIRST_VERSION + breaking + 1 };
}

/** Returns the text of both numbers that is stored in `meta`, under the key `schema`. Every writing transaction reads it. */
export const versionText = ({ version, oldest }: StoredVersion): string => `${version} ${oldest}`;

export function parseVersion(text: unknown): StoredVersion {
  const [version = 0, oldest = version] = String(text ?? '0')
    .split(' ')
    .map(Number);
  return { version, oldest };
}

/** Reads the catalog. `to_regclass` may answer from memory, and then does not see what was created while a lock was awaited. */
const META_SQL = `SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE nspname = $1 AND relname = 'meta'`;

/** Returns the version of the schema. Changes nothing. */
export async function readVersion(
  client: Client,
  { schema: name }: PostgresLocation,
): Promise<StoredVersion> {
  const { rows: found } = await client.query(META_SQL, [name]);
  if (found.length === 0) return parseVersion(null);
  const { rows } = await client.query(`SELECT value FROM ${quoteName(name)}.meta WHERE key = 'schema'`);
  return parseVersion(rows[0]?.value);
}

/** Returns the error for a schema without a queue. */
export function noQueue({ name }: PostgresLocation): QueueError {
  return new QueueError(
    'store-unavailable',
    `there is no queue at ${name}`,
    'check the database and ?schema= in the URL. To create a queue there: queuectl enqueue',
  );
}

/** Throws if this version of queuectl is too old for the schema, as after a newer queuectl has migrated it, or if the schema is from before the first release. */
export function refuseUnsupported(
  { version, oldest }: StoredVersion,
  { name }: PostgresLocation,
  known = SCHEMA_VERSION,
): void {
  if (version > 0 && version < FIRST_VERSION)
    throw new QueueError(
      'older-schema',
      `${name} has schema version ${version}; this version of queuectl supports versions from ${FIRST_VERSION} on`,
      'export it with the older queuectl (queuectl export FILE), drop the schema, then run queuectl import FILE',
    );
  if (oldest <= known) return;
  throw new QueueError(
    'newer-schema',
    `${name} has schema version ${version}; this version of queuectl supports versions up to ${known}`,
    'upgrade queuectl on this host, and start its workers again. They take over the jobs that still run here',
  );
}

/** Throws if the schema has to be migrated before this version of queuectl can use it. */
export function refuseOlder({ version }: StoredVersion, { name }: PostgresLocation): void {
  if (version === 0 || version >= SCHEMA_VERSION) return;
  throw new QueueError(
    'older-schema',
    `${name} has schema version ${version}; this version of queuectl needs version ${SCHEMA_VERSION}`,
  );
}
