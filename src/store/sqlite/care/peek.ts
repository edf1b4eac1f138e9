import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { QueueError } from '../../../core/errors.ts';
import { orNull } from '../../../core/text/language.ts';
import { systemClock } from '../../../core/time/clock.ts';
import { refuseProblems, type SafetyProblem } from '../../../files/own-files.ts';
import { stateBeside } from '../../../state/state-directory.ts';
import type { Wakeups } from '../../contract/wakeups.ts';
import type { OpenedStore, StoreOptions } from '../../open.ts';
import { SCHEMA_VERSION } from '../../schema/version.ts';
import type { Store } from '../../store.ts';
import { type Connection, connect } from '../connection.ts';
import { translateError } from '../failures.ts';
import { migrate } from '../migrate.ts';
import { readVersion } from '../schema-version.ts';
import { sqliteStore } from '../store.ts';
import { hasTracesOfStore, refuseOddFile } from './odd-file.ts';
import { PART_SUFFIXES, safetyProblems } from './owner.ts';
import { refuseSecondName } from './second-name.ts';

/** Reads the epoch and the origin of a store of this or an older version. Returns null if the file is empty. */
export async function epochsOf(path: string): Promise<{ epoch: string; origin: string | null } | null> {
  refuseOddFile(path);
  return withReads(path, (connection) => {
    if (readVersion(connection) === 0) return null;
    const { epoch, origin } = sqliteStore(connection);
    return { epoch, origin };
  });
}

/** Opens a database to read from it, and closes it after `work`. */
export async function withReads<T>(
  path: string,
  work: (connection: Connection) => T | Promise<T>,
  options: Parameters<typeof connect>[1] = { open: openToRead },
): Promise<T> {
  const connection = await connect(path, options);
  try {
    return await work(connection);
  } catch (error) {
    throw translateError(error, path);
  } finally {
    connection.close();
  }
}

/** Reads the store in a file that has only one name, even if there is no space left on the disk. */
export async function withStoreReads<T>(
  path: string,
  work: (connection: Connection) => T | Promise<T>,
): Promise<T> {
  refuseSecondName(path);
  try {
    return await withReads(path, work);
  } catch (error) {
    if ((error as QueueError).code !== 'disk-full') throw error;
    // A connection that locks out others needs no space for a -shm.
    return withReads(path, work, { alone: true });
  }
}

export async function peekSqlite(location: string): Promise<Store | null> {
  const path = orNull(() => realpathSync(resolve(location)));
  if (path === null) return null;
  refuseOddFile(path);
  const connection = await connect(path, { open: openToRead });
  try {
    if ((await connection.read(() => readVersion(connection))) === SCHEMA_VERSION)
      return sqliteStore(connection);
  } catch (error) {
    connection.close();
    throw translateError(error, path);
  }
  connection.close();
  return null;
}

/**
 * Opens a database as others do, with the same locks, so that no change is seen in part. A WAL that a killed process left is read, and
 * stays as it is. Where this user could not create the -wal and -shm, or other users could create them, only the file itself is read.
 */
function openToRead(path: string): DatabaseSync {
  const problems = problemsOf(path);
  if (PART_SUFFIXES.some((end) => existsSync(path + end))) refuseProblems(problems);
  const walBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size;
  const mayWrite = isWritable(path);
  if (problems.length > 0 || (walBytes === undefined && !mayWrite)) return openSingleFile(path);
  return new DatabaseSync(path, { readOnly: !mayWrite || (walBytes ?? 0) > 0 });
}

/** Tells whether this user may create the -wal and -shm of a database. */
const isWritable = (path: string): boolean =>
  orNull(() => [path, dirname(path)].map((one) => accessSync(one, constants.W_OK))) !== null;

/** Returns what is not safe about the place of a database, unless the user has allowed that for all commands. */
const problemsOf = (path: string): SafetyProblem[] =>
  process.env.QUEUECTL_ANY_OWNER === '1' ? [] : safetyProblems(path);

/** Opens a database that is complete in one file. SQLite does not look for other files beside it. */
function openSingleFile(path: string): DatabaseSync {
  const url = pathToFileURL(path);
  url.search = '?immutable=1';
  return new DatabaseSync(url, { readOnly: true });
}

/** The wake-ups of a store that no other process has open. */
const NO_WAKEUPS: Wakeups = {
  wake() {},
  tellChange() {},
  reopensCheaply: false,
  onWake: () => null,
  onChange: () => null,
};

/** Opens an empty store in memory in place of one that does not exist, for commands that only read. Creates no file. */
export async function openEmpty(
  location: string,
  { actor = null, clock = systemClock }: StoreOptions,
): Promise<OpenedStore> {
  const path = resolve(location);
  const connection = await connect(path, { open: () => new DatabaseSync(':memory:'), actor, now: clock.now });
  await migrate(connection);
  return {
    store: sqliteStore(connection),
    stateDirectory: stateBeside(path),
    wakeups: NO_WAKEUPS,
    clock,
    created: false,
    missing: true,
    schema: { found: SCHEMA_VERSION, known: SCHEMA_VERSION, oldest: SCHEMA_VERSION },
    warning: hasTracesOfStore(path)
      ? `${path} is missing, although ${path}.d exists; to restore a backup: queuectl restore FILE`
      : null,
  };
}
