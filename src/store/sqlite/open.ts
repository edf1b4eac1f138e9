import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { QueueError } from '../../core/errors.ts';
import { sync } from '../../files/durable.ts';
import { stateBeside } from '../../state/state-directory.ts';
import type { OpenedStore, OpenOptions } from '../open.ts';
import { fileSystemOf } from './care/network.ts';
import { refuseNoFile, refuseOddFile } from './care/odd-file.ts';
import { refuseUnsafe } from './care/owner.ts';
import { type Connection, connect } from './connection.ts';
import { isMoved, lacksWal, translate } from './failures.ts';
import { refuseAgain } from './live-files.ts';
import { mendOnFailure } from './mend.ts';
import { migrate, refuseNewer, refuseOlder, refuseUnreleased, SCHEMA_VERSION, version } from './migrate.ts';
import { sqliteStore } from './store.ts';

const LONGEST_NAME = 240;

const DEFAULTS: OpenOptions = {
  ifMissing: 'create',
  actor: null,
  anyOwner: false,
  older: 'migrate',
  now: Date.now,
};

/** Opens a store. Unless told otherwise, it is created if it is missing and migrated if it is older. */
export async function openSqlite(location: string, given: Partial<OpenOptions> = {}): Promise<OpenedStore> {
  const { ifMissing, anyOwner, ...options } = { ...DEFAULTS, ...given };
  // The look comes before the file exists, because another process that finds the file makes the directory at once.
  const hadState = existsSync(stateBeside(resolve(location)).attempts);
  const { path, created } = prepareFiles(resolve(location), ifMissing === 'create', anyOwner);
  const { connection, found } = await enter(path, options);
  const store = sqliteStore(connection);
  try {
    if (options.older === 'migrate' || found === 0) await migrate(connection);
    connection.guard(() => refuseNewer(connection));
    mendOnFailure(connection);
    // Both become parts of paths, so a store in which they are damaged is refused before anything is done with it.
    await connection.read(() => [store.epoch, store.origin]);
    // The directory is made only now, so that none is made beside a file that is no queue.
    mkdirSync(stateBeside(path).attempts, { recursive: true, mode: 0o700 });
  } catch (error) {
    connection.close();
    throw translate(error, path);
  }
  return {
    store,
    stateDirectory: stateBeside(path),
    created,
    schema: { found, known: SCHEMA_VERSION },
    warning:
      created && hadState
        ? `${path} was missing, although ${path}.d exists; created a new, empty queue`
        : networkWarning(path),
  };
}

/**
 * Opens the file in WAL mode. If a restore or repair replaces it meanwhile, the new one is opened. Once it is open in WAL mode,
 * nobody can replace it.
 */
async function enter(
  path: string,
  { actor, older, now }: Pick<OpenOptions, 'actor' | 'older' | 'now'>,
): Promise<{ connection: Connection; found: number }> {
  refuseAgain(path);
  const refuse = older === 'refuse' ? refuseOlder : refuseUnreleased;
  for (;;) {
    const connection = await connect(path, { actor, now });
    try {
      const look = (): Promise<number> => connection.read(() => refuse(connection, version(connection)));
      // A database of another program or version is refused before anything in it changes.
      await look();
      if (connection.isCurrent()) {
        await connection.useWal();
        if (connection.isCurrent()) {
          const found = await look();
          connection.watchFiles();
          return { connection, found };
        }
      }
      // SQLite would create it again.
      if (!existsSync(path)) connection.checkFile();
    } catch (error) {
      if (!isMoved(error)) {
        connection.close();
        throw lacksWal(error) ? withoutWal(path) : translate(error, path);
      }
    }
    connection.close();
  }
}

/** Removes an empty -wal again. While it exists, processes that have the removed one open cannot save its contents. */
function withoutWal(path: string): QueueError {
  if (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size === 0) rmSync(`${path}-wal`, { force: true });
  return new QueueError('store-files-removed', `${path}-wal was removed while it was in use`);
}

/** Checks the file, or makes it before SQLite does, so that nobody else can read it even for a moment. */
function prepareFiles(
  location: string,
  create: boolean,
  anyOwner: boolean,
): { path: string; created: boolean } {
  try {
    // SQLite needs room for the names of its own files beside it.
    if (Buffer.byteLength(basename(location)) > LONGEST_NAME) {
      throw new QueueError('store-unavailable', `${location} cannot be opened: its name is too long`);
    }
    refuseNoFile(location, statSync(location, { throwIfNoEntry: false }));
    // This comes before SQLite reads anything, because it finds the files beside the database by their names.
    refuseUnsafe(location, anyOwner);
    const created = create && makeFile(location, anyOwner);
    const path = realpathSync(location);
    const stat = statSync(path);
    refuseOddFile(path, created);
    accessSync(path, constants.R_OK | constants.W_OK);
    if (stat.size === 0) syncDirectories(path); // fault-control: sync-new-store
    return { path, created };
  } catch (error) {
    throw translate(error, location);
  }
}

function makeFile(location: string, anyOwner: boolean): boolean {
  if (!existsSync(dirname(location))) {
    mkdirSync(dirname(location), { recursive: true, mode: 0o700 });
    // In a directory such as /tmp somebody else may have made it first.
    refuseUnsafe(location, anyOwner);
  }
  try {
    closeSync(openSync(location, 'ax', 0o600));
    return true;
  } catch (error) {
    if (['EEXIST', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/**
 * Syncs all directories above a new file, so that its name and theirs survive a power cut. Every process that finds the file
 * empty does this before it writes, because the process that made it may have died.
 */
function syncDirectories(path: string): void {
  const directory = dirname(path);
  if (directory === path) return;
  try {
    sync(directory);
  } catch (error) {
    // A directory that cannot be opened was not made by us. Some file systems cannot sync directories.
    const { syscall, code } = error as NodeJS.ErrnoException;
    if (syscall !== 'open' && code !== 'EINVAL') throw error;
  }
  syncDirectories(directory);
}

function networkWarning(path: string): string | null {
  const { name, network } = fileSystemOf(dirname(path));
  return network ? `${path} is on a ${name} file system; SQLite is only safe on local disks` : null;
}
