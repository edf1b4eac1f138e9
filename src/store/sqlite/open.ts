import { accessSync, closeSync, constants, mkdirSync, openSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { QueueError } from '../../core/errors.ts';
import type { OpenedStore } from '../open.ts';
import { connect } from './connection.ts';
import { translate } from './failures.ts';
import { migrate, version } from './migrate.ts';
import { fileSystemOf } from './network.ts';
import { refuseUnsafe } from './owner.ts';
import { sqliteStore } from './store.ts';

const SMALLEST_DATABASE = 512;
const LONGEST_NAME = 240;

export async function openSqlite(location: string, create = true, anyOwner = false): Promise<OpenedStore> {
  const { path, created } = prepareFiles(resolve(location), create, anyOwner);
  const connection = await connect(path);
  try {
    // First of all: a database of another program is refused before anything in it changes.
    await connection.read(() => version(connection));
    await connection.useWal();
    await migrate(connection);
    // Only now: a file that turned out to be no queue of ours gets no neighbour.
    mkdirSync(`${path}.d/attempts`, { recursive: true, mode: 0o700 });
  } catch (error) {
    connection.close();
    throw translate(error, path);
  }
  return {
    store: sqliteStore(connection),
    stateDirectory: `${path}.d`,
    created,
    warning: networkWarning(path),
  };
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
    const created = create && makeFile(location);
    const path = realpathSync(location);
    const stat = statSync(path);
    if (stat.isDirectory()) {
      throw new QueueError('store-unavailable', `${location} is a directory, not a database file`);
    }
    // SQLite would take a file of one byte for an empty database, and a forbidden one for a missing one.
    if (stat.size > 0 && stat.size < SMALLEST_DATABASE) {
      throw new QueueError('not-a-database', `${location} is not a queuectl database`);
    }
    accessSync(path, constants.R_OK | constants.W_OK);
    refuseUnsafe(path, anyOwner);
    return { path, created };
  } catch (error) {
    throw translate(error, location);
  }
}

function makeFile(location: string): boolean {
  mkdirSync(dirname(location), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(location, 'ax', 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    if ((error as NodeJS.ErrnoException).code === 'EISDIR') return false;
    throw error;
  }
}

function networkWarning(path: string): string | null {
  const { name, network } = fileSystemOf(dirname(path));
  return network ? `${path} is on a ${name} file system; SQLite is safe on local disks only` : null;
}
