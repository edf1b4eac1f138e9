import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { QueueError } from '../../core/errors.ts';
import { systemClock } from '../../core/time/clock.ts';
import { refuseProblems } from '../../files/own-files.ts';
import { knownHost } from '../../state/host.ts';
import { type StateDirectory, stateDirectory } from '../../state/state-directory.ts';
import { stateProblems } from '../../state/state-problems.ts';
import { queuectlHome } from '../location.ts';
import type { OpenedStore, StoreOptions } from '../open.ts';
import { foldAfterWrites } from '../parts/log.ts';
import { newestVersion } from '../schema/migrations.ts';
import { refuseOlder, SCHEMA_VERSION, type StoredVersion } from '../schema/version.ts';
import type { Store } from '../store.ts';
import {
  answerMsFor,
  type Client,
  connectClient,
  DEFAULT_STORE_TIMEOUT_MS,
  endClient,
  type Timeouts,
} from './connection/client.ts';
import { connect, type ServerConnection } from './connection/connection.ts';
import { translateError } from './connection/failures.ts';
import { type PostgresLocation, readLocation } from './connection/location.ts';
import { repeat } from './connection/repeating.ts';
import { refuseForeignTables, refuseServer } from './connection/server-checks.ts';
import { type ServerClock, serverClock } from './connection/server-clock.ts';
import { postgresEngine } from './engine.ts';
import { readIdentity } from './identity.ts';
import { noQueue, readVersion, refuseUnsupported } from './schema-version.ts';
import { connections } from './sql/inspect.ts';
import { postgresStore } from './store.ts';
import { postgresWakeups } from './wakeups.ts';

/** Opens a store. By default, its schema is created if it is missing and migrated if it is older. */
export async function openPostgres(
  url: string,
  options: StoreOptions = {},
  environment: NodeJS.ProcessEnv = process.env,
): Promise<OpenedStore> {
  const location = readLocation(url, environment);
  const { storeTimeoutMs: openMs = DEFAULT_STORE_TIMEOUT_MS, callTimeoutMs: callMs = openMs } = options;
  const clock = serverClock(options.clock ?? systemClock);
  const answerMs = answerMsFor(openMs);
  const { client, found } = await repeat({ location, waitMs: openMs, wasOpen: false }, (deadline) =>
    openClient(location, options, clock, { connectMs: deadline - performance.now(), answerMs }),
  );
  if (client === null) return openEmpty(url, options, environment);
  const connection = connect(location, {
    ...{ actor: options.actor ?? null, now: clock.now, learnTime: clock.learn, waitMs: callMs, answerMs },
    first: client,
  });
  try {
    await readIdentity(connection);
    const state = stateOf(connection, environment);
    refuseUnsafe(state, options);
    // Another user may have created a part of the path at the same moment.
    if (makeStateDirectory(state)) refuseUnsafe(state, options);
    connection.identifyHost(() => knownHost(state), state.path);
    const { wakeups, flush } = postgresWakeups(connection, environment);
    return {
      store: storeOf(connection, flush),
      stateDirectory: state,
      wakeups,
      clock,
      ...(location.prepared && { freeConnections: () => freeConnections(connection) }),
      created: found.version === 0,
      schema: { found: found.version, known: SCHEMA_VERSION, oldest: newestVersion().oldest },
      warning: null,
    };
  } catch (error) {
    await connection.close();
    throw translateError(error, location);
  }
}

async function freeConnections(db: ServerConnection): Promise<number> {
  const [row] = await db.all<{ connections: number; used: number }>(connections);
  return row!.connections - row!.used;
}

/** Returns the directory of this host for a store. It is named by the store, because several URLs may lead to it. */
const stateOf = ({ identity }: ServerConnection, environment: NodeJS.ProcessEnv): StateDirectory =>
  stateDirectory(join(queuectlHome(environment), `${identity.store}.d`), true);

/** Throws if another user could change the files of the state directory. */
const refuseUnsafe = (state: StateDirectory, { anyOwner }: StoreOptions): void =>
  refuseProblems(anyOwner ? [] : stateProblems(state));

/** Creates the state directory. Returns whether anything of it was missing. */
function makeStateDirectory({ attempts }: StateDirectory): boolean {
  try {
    return mkdirSync(attempts, { recursive: true, mode: 0o700 }) !== undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new QueueError(
      code === 'ENOSPC' ? 'disk-full' : 'not-permitted',
      `cannot create the state directory: ${message}`,
      'set QUEUECTL_HOME to a directory on this host that you can write',
      { cause: error },
    );
  }
}

/** How long a process waits after a write before it folds the log. Others may have folded it by then. */
const FOLD_AFTER_MS = 250;

function storeOf(connection: ServerConnection, flushWakeups: () => Promise<void>) {
  const stopFolding = foldAfterWrites(postgresEngine(connection), connection.onCommitted, FOLD_AFTER_MS);
  return postgresStore(connection, async () => {
    stopFolding();
    await flushWakeups();
    await connection.close();
  });
}

/** Connects, and creates or migrates the schema if that is wanted. Returns no client if an empty store is to be opened instead. */
async function openClient(
  location: PostgresLocation,
  { ifMissing, access = 'work' }: StoreOptions,
  clock: ServerClock,
  timeouts: Timeouts,
): Promise<{ client: Client | null; found: StoredVersion }> {
  let client: Client | null = null;
  try {
    client = await connectClient(location, timeouts);
    await refuseServer(client, clock);
    const found = await readVersion(client, location);
    refuseUnsupported(found, location);
    if (access === 'read' || access === 'write') refuseOlder(found, location.name);
    const { version } = found;
    if (version === 0) {
      if (ifMissing === 'refuse') throw noQueue(location);
      await refuseForeignTables(client, location);
    }
    if (version === 0 && ifMissing === 'empty') {
      await endClient(client);
      return { client: null, found };
    }
    // The SQL of the schema is loaded only for a store that has to be created or migrated.
    if (version === 0 || (access === 'work' && version < SCHEMA_VERSION))
      return { client, found: await (await import('./migrate.ts')).migrate(client, location) };
    return { client, found };
  } catch (error) {
    if (client !== null) await endClient(client);
    throw error;
  }
}

/** Opens an empty store in memory in place of one that does not exist, for commands that only read. */
async function openEmpty(
  url: string,
  options: StoreOptions,
  environment: NodeJS.ProcessEnv,
): Promise<OpenedStore> {
  const { openEmpty: openInMemory } = await import('../sqlite/care/peek.ts');
  const state = stateDirectory(join(queuectlHome(environment), 'no-store.d'));
  refuseUnsafe(state, options);
  const opened = await openInMemory(url, options);
  // The settings have the same defaults as after the store is created.
  Object.assign(opened.store, { manyHosts: true });
  return { ...opened, stateDirectory: state, warning: null };
}

/** Opens a store to read from it. Returns null if there is none with a schema that this program can use. */
export async function peekPostgres(
  url: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<Store | null> {
  const location = readLocation(url, environment);
  let client: Client | null = null;
  try {
    client = await connectClient(location);
    const { version, oldest } = await readVersion(client, location);
    if (version >= SCHEMA_VERSION && oldest <= SCHEMA_VERSION) {
      const connection = connect(location, { actor: null, now: Date.now, first: client });
      await readIdentity(connection);
      const state = stateOf(connection, environment);
      connection.identifyHost(() => (stateProblems(state).length === 0 ? knownHost(state) : null));
      return postgresStore(connection, () => connection.close());
    }
  } catch (error) {
    if (client !== null) await endClient(client);
    throw translateError(error, location);
  }
  await endClient(client);
  return null;
}
