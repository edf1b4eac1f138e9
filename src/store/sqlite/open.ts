import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { QueueError } from '../../core/errors.ts';
import type { OpenedStore } from '../open.ts';
import { connect } from './connection.ts';
import { translate } from './failures.ts';
import { migrate, version } from './migrate.ts';
import { sqliteStore } from './store.ts';

const SMALLEST_DATABASE = 512;
const LONGEST_NAME = 240;

/** File systems whose locks reach over the network, by the kernel's magic numbers. */
const NETWORK: Record<number, string> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  16914839: '9p',
  1702057286: 'FUSE',
};

export async function openSqlite(location: string, create = true): Promise<OpenedStore> {
  const { path, created } = prepareFiles(resolve(location), create);
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
function prepareFiles(location: string, create: boolean): { path: string; created: boolean } {
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
    if (stat.size === 0) syncDirectories(path);
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

/**
 * A new file survives a power cut when its name and those of the directories made for it do. Whoever finds it empty does
 * this before writing: the one who made them may have died.
 */
function syncDirectories(path: string): void {
  const directory = dirname(path);
  if (directory === path) return;
  const file = openDirectory(directory);
  if (file !== null) {
    try {
      fsyncSync(file);
    } catch (error) {
      // Some file systems cannot do it.
      if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
    } finally {
      closeSync(file);
    }
  }
  syncDirectories(directory);
}

/** Null: not ours to open, so not made by us either. */
function openDirectory(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY);
  } catch {
    return null;
  }
}

function networkWarning(path: string): string | null {
  const name = NETWORK[Number(statfsSync(dirname(path)).type) >>> 0];
  return name === undefined
    ? null
    : `${path} is on a ${name} file system; SQLite is safe on local disks only`;
}
