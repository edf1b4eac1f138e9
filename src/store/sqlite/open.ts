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
import type { OlderSchema, OpenedStore } from '../open.ts';
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

export async function openSqlite(
  location: string,
  create = true,
  actor: string | null = null,
  anyOwner = false,
  older: OlderSchema = 'migrate',
): Promise<OpenedStore> {
  // Looked at before the file is there: whoever finds it makes the directory at once.
  const hadState = existsSync(stateBeside(resolve(location)).attempts);
  const { path, created } = prepareFiles(resolve(location), create, anyOwner);
  const { connection, found } = await enter(path, actor, older);
  const store = sqliteStore(connection);
  try {
    if (older === 'migrate' || found === 0) await migrate(connection);
    connection.guard(() => refuseNewer(connection));
    mendOnFailure(connection);
    // Both are parts of paths: a store in which they are not is refused before anything is done with it.
    await connection.read(() => [store.epoch, store.origin]);
    // Only now: a file that turned out to be no queue of ours gets no neighbour.
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
 * A restore or repair may take the file away while it is waited for: then the new one is opened. Once it is open in WAL mode,
 * nobody can take it away any more.
 */
async function enter(
  path: string,
  actor: string | null,
  older: OlderSchema,
): Promise<{ connection: Connection; found: number }> {
  refuseAgain(path);
  const refuse = older === 'refuse' ? refuseOlder : refuseUnreleased;
  for (;;) {
    const connection = await connect(path, undefined, actor);
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
      // SQLite would make it again.
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

/** Takes an empty -wal away again: as long as it is there, those who have the removed one open cannot save what is in that. */
function withoutWal(path: string): QueueError {
  if (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size === 0) rmSync(`${path}-wal`, { force: true });
  return new QueueError('store-files-removed', `${path}-wal was removed while it was in use`);
}

/** Makes the file before SQLite does, so that nobody else could read it even for a moment. */
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
    // Before anything is made, or read by SQLite: it takes whatever stands beside the file by its name.
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
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    if ((error as NodeJS.ErrnoException).code === 'EISDIR') return false;
    throw error;
  }
}

/**
 * Syncs all directories above a new file, so that its name and theirs survive a power cut. Whoever finds the file empty does
 * this before writing: the one who made them may have died.
 */
function syncDirectories(path: string): void {
  const directory = dirname(path);
  if (directory === path) return;
  try {
    sync(directory);
  } catch (error) {
    // One that cannot be opened is not ours, so it was not made by us either. Some file systems cannot sync directories.
    const { syscall, code } = error as NodeJS.ErrnoException;
    if (syscall !== 'open' && code !== 'EINVAL') throw error;
  }
  syncDirectories(directory);
}

function networkWarning(path: string): string | null {
  const { name, network } = fileSystemOf(dirname(path));
  return network ? `${path} is on a ${name} file system; SQLite is only safe on local disks` : null;
}
