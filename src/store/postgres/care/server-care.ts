import { QueueError } from '../../../core/errors.ts';
import type { FileCare } from '../../contract/file-care.ts';
import { connectClient } from '../client.ts';
import { connect } from '../connection.ts';
import { translateError } from '../failures.ts';
import { readLocation } from '../location.ts';
import { migrationSql } from '../migrate.ts';
import { readVersion, refuseNewer, refuseOlder } from '../schema-version.ts';
import { checkContents } from './check.ts';
import { inspectPostgres } from './inspect.ts';

/** The files of the server belong to PostgreSQL, whose own programs copy and restore them. */
export const postgresCare: FileCare = {
  isOnServer: true,
  stateDirectoryOf: () => refuse('this command works on files, and this queue is in PostgreSQL'),
  copy: async () => refuse('queuectl cannot back up a queue in PostgreSQL'),
  replace: async () => refuse('queuectl cannot restore a queue in PostgreSQL'),
  repair: async () => refuse('queuectl cannot repair a queue in PostgreSQL'),
  migrationSql: (url) => sqlOfMigration(url, process.env),
  check: (url) => checkPostgres(url, process.env),
  inspect: (url, whole) => inspectPostgres(url, whole, process.env),
  leftovers: () => [],
  clearLeftovers() {},
  refuseOverwriting() {},
};

function refuse(what: string): never {
  throw new QueueError(
    'store-unavailable',
    what,
    'to back up: pg_dump --format custom --schema SCHEMA. To restore: pg_restore, and then queuectl db renew',
  );
}

/** Returns the SQL that creates the schema or brings it to the current version. It also lets the role of the URL use it. */
async function sqlOfMigration(url: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const location = readLocation(url, environment);
  try {
    const client = await connectClient(location);
    try {
      const found = await readVersion(client, location);
      refuseNewer(found, location);
      return migrationSql(location, found);
    } finally {
      await client.end();
    }
  } catch (error) {
    throw translateError(error, location);
  }
}

async function checkPostgres(url: string, environment: NodeJS.ProcessEnv) {
  const location = readLocation(url, environment);
  const db = connect(location, { actor: null, now: Date.now });
  try {
    const found = await db.withClient((client) => readVersion(client, location));
    if (found === 0) throw new QueueError('store-unavailable', `there is no queue at ${location.name}`);
    refuseNewer(found, location);
    refuseOlder(found, location);
    return await checkContents(db);
  } finally {
    await db.close();
  }
}
