import { QueueError, usageError } from '../../core/errors.ts';
import { countOf } from '../../core/text/words.ts';
import { isServerUrl } from '../../store/location.ts';
import { careOf, type StoreOptions } from '../../store/open.ts';
import { closeApp, openApp } from '../app.ts';
import { liveProcessIds } from '../workers/workers.ts';

type Migration = Awaited<ReturnType<typeof previewMigration>>;
type MigrationOptions = Pick<StoreOptions, 'anyOwner' | 'storeTimeoutMs'>;

/** Returns what a migration would do, and changes nothing. */
export async function previewMigration(location: string, actor: string | null, options: MigrationOptions) {
  const app = await openApp(location, actor, { access: 'any-version', ifMissing: 'refuse', ...options });
  try {
    const { found: from, known: to, oldest } = app.schema;
    return {
      db: await locationName(location, process.env),
      /** The schema version of the file before the migration. */
      from,
      /** The schema version of this version of queuectl. */
      to,
      /** The ids of the running workers that cannot use the newer schema, or of their supervisors. They prevent the migration. */
      workers: from >= oldest ? [] : await liveProcessIds(app),
    };
  } finally {
    await closeApp(app);
  }
}

/** Returns the SQL that an administrator can run in place of a migration. Throws if the store is a file. */
export async function migrationSqlOf(location: string, storeTimeoutMs?: number): Promise<string> {
  const sql = await (await careOf(location)).migrationSql(location, storeTimeoutMs);
  if (sql === null)
    throw usageError('--sql is for a queue in PostgreSQL', 'without --sql: queuectl db migrate');
  return sql;
}

/** Brings a store to the newest schema version. Throws if workers are running that could not use it any more. */
export async function migrateStore(
  location: string,
  actor: string | null,
  options: MigrationOptions,
): Promise<Migration> {
  const migration = await previewMigration(location, actor, options);
  const { db, from, to, workers } = migration;
  if (workers.length > 0)
    throw new QueueError(
      'older-schema',
      `${db} has schema version ${from}, and ${countOf(workers.length, 'worker')} of that version ${workers.length === 1 ? 'is' : 'are'} running (${workers[0]})`,
      'run queuectl worker stop --leave, and then queuectl db migrate. To replace the workers at once: queuectl worker start',
    );
  if (from < to)
    await closeApp(await openApp(location, actor, { access: 'work', ifMissing: 'refuse', ...options }));
  return migration;
}

/** Returns the location for messages. A URL is shown in its usual form, without a password. */
export async function locationName(location: string, environment: NodeJS.ProcessEnv): Promise<string> {
  if (!isServerUrl(location)) return location;
  return (await import('../../store/postgres/connection/location.ts')).readLocation(location, environment)
    .name;
}
