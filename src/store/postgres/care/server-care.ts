import { QueueError } from '../../../core/errors.ts';
import type { FileCare } from '../../contract/file-care.ts';
import { refuseOlder } from '../../schema/version.ts';
import { answerMsFor, connectClient, DEFAULT_STORE_TIMEOUT_MS } from '../connection/client.ts';
import { connect } from '../connection/connection.ts';
import { readLocation } from '../connection/location.ts';
import { repeat } from '../connection/repeating.ts';
import { migrationSql } from '../migrate.ts';
import { noQueue, readVersion, refuseUnsupported } from '../schema-version.ts';
import { checkContents } from './check.ts';
import { inspectPostgres } from './inspect.ts';

/** The files of the server belong to PostgreSQL, whose own programs copy and restore them. */
export const postgresCare: FileCare = {
  isOnServer: true,
  stateDirectoryOf: refuseFileCommand,
  copy: async () => refuse('queuectl cannot back up a queue in PostgreSQL'),
  replace: async () => refuseFileCommand(),
  repair: async () => refuseFileCommand(),
  migrationSql: (url, serverWaitMs) => sqlOfMigration(url, process.env, serverWaitMs),
  check: (url, serverWaitMs) => checkPostgres(url, process.env, serverWaitMs),
  inspect: (url, whole) => inspectPostgres(url, whole, process.env),
  leftovers: () => [],
  clearLeftovers() {},
  refuseOverwriting() {},
};

function refuseFileCommand(): never {
  refuse('this command works on files, and this queue is in PostgreSQL');
}

function refuse(what: string): never {
  throw new QueueError(
    'store-unavailable',
    what,
    'to back up: pg_dump --format custom --schema SCHEMA. To restore: pg_restore, and then queuectl db renew',
  );
}

/** Returns the SQL that creates the schema or brings it to the current version. It also lets the role of the URL use it. */
async function sqlOfMigration(
  url: string,
  environment: NodeJS.ProcessEnv,
  waitMs = DEFAULT_STORE_TIMEOUT_MS,
): Promise<string> {
  const location = readLocation(url, environment);
  return repeat({ location, waitMs, wasOpen: false }, async (deadline) => {
    const client = await connectClient(location, { connectMs: deadline - performance.now() });
    try {
      const found = await readVersion(client, location);
      refuseUnsupported(found, location);
      return migrationSql(location, found.version);
    } finally {
      client.end().catch(() => {});
    }
  });
}

async function checkPostgres(url: string, environment: NodeJS.ProcessEnv, waitMs = DEFAULT_STORE_TIMEOUT_MS) {
  const location = readLocation(url, environment);
  // Reading whole tables may take longer than the user wants to wait for a server.
  const answerMs = answerMsFor(DEFAULT_STORE_TIMEOUT_MS);
  const db = connect(location, { actor: null, now: Date.now, waitMs, answerMs });
  try {
    const found = await db.withClient((client) => readVersion(client, location));
    if (found.version === 0) throw noQueue(location);
    refuseUnsupported(found, location);
    refuseOlder(found, location.name);
    return await checkContents(db);
  } finally {
    await db.close();
  }
}
