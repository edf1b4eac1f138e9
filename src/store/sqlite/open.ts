import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { QueueError } from '../../core/errors.ts';
import { byteLength, orNull } from '../../core/text/language.ts';
import { systemClock } from '../../core/time/clock.ts';
import { sync } from '../../files/durable.ts';
import { isMountPoint } from '../../files/read.ts';
import { stateBeside } from '../../state/state-directory.ts';
import { fileWakeups } from '../../state/wake.ts';
import type { Access, OpenedStore, StoreOptions } from '../open.ts';
import { refuseOlder, SCHEMA_VERSION } from '../schema/version.ts';
import { refuseLeftWal, refuseNonFile, refuseOddFile } from './care/odd-file.ts';
import { networkFileSystemOf, refuseUnsafe } from './care/owner.ts';
import { type Connection, connect } from './connection.ts';
import { isMoved, translateError } from './failures.ts';
import { onDemandStore } from './on-demand-store.ts';
import { readSupportedVersion, readVersion } from './schema-version.ts';

const LONGEST_NAME_BYTES = 240;

/**
 * Opens a store. By default, it is created if it is missing and migrated if its schema is older. Locks out other processes if the
 * options allow that and no other process has the store open.
 */
export async function openSqlite(location: string, options: StoreOptions = {}): Promise<OpenedStore> {
  const { isBrief = false } = options;
  if (options.ifMissing === 'empty' && isMissing(location))
    return (await import('./care/peek.ts')).openEmpty(location, options);
  const found = orNull(() => statSync(location, { throwIfNoEntry: false }));
  if (found == null) return open(location, options, false);
  const path = realpathSync(location);
  // Most databases need no closer look.
  if (found.nlink > 1 || isMountPoint(path))
    (await import('./care/second-name.ts')).refuseSecondName(path, found);
  const isUnused = isBrief === true && !existsSync(`${path}-wal`) && !existsSync(`${path}-shm`);
  try {
    return (isUnused && (await openAlone(location, options))) || (await open(location, options, false));
  } catch (error) {
    // There is no space for a -shm, which a process that locks out others does not need.
    const needsSpace = isBrief === 'if-full' && error instanceof QueueError && error.code === 'disk-full';
    const alone = needsSpace ? await openAlone(location, options) : null;
    if (alone === null) throw error;
    return alone;
  }
}

/** Tells whether it is certain that there is no store. A directory that cannot be read may contain one. */
function isMissing(location: string): boolean {
  try {
    lstatSync(location);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** Opens a store and locks out other processes. Returns null if another process has it open. */
async function openAlone(location: string, options: StoreOptions): Promise<OpenedStore | null> {
  try {
    return await open(location, options, true);
  } catch (error) {
    if (error instanceof QueueError && error.code === 'store-busy') return null;
    throw error;
  }
}

async function open(location: string, options: StoreOptions, alone: boolean): Promise<OpenedStore> {
  const { ifMissing = 'create', access = 'work', clock = systemClock } = options;
  // This is checked before the file is created here, because another process that then opens the file may create the state
  // directory first.
  const hadState = existsSync(stateBeside(resolve(location)).attempts);
  const { path, created } = prepareFiles(
    resolve(location),
    ifMissing === 'create',
    options.anyOwner === true,
  );
  const settings = { actor: options.actor ?? null, now: clock.now, alone };
  const { connection, found } = await openInWalMode(path, settings, access);
  // Nobody replaces a store that is open, so a second name that only a restore or repair creates was left by a killed one.
  if (statSync(path).nlink > 1) (await import('./care/second-name.ts')).removeSecondName(path);
  const store = options.partsOnDemand
    ? onDemandStore(connection)
    : (await import('./store.ts')).foldingStore(connection);
  try {
    // The SQL of the schema is loaded only for a store that has to be created or migrated.
    if (found === 0 || (access === 'work' && found !== SCHEMA_VERSION))
      await (await import('./migrate.ts')).createOrMigrate(connection);
    connection.checkBeforeWrites(() => readSupportedVersion(connection));
    // The epoch and the origin become parts of paths, so a store in which they are damaged is refused before it is used.
    await connection.read(() => [store.epoch, store.origin]);
    // The directory is created only now, so that none is created beside a file that is not a queue.
    mkdirSync(stateBeside(path).attempts, { recursive: true, mode: 0o700 });
  } catch (error) {
    connection.close();
    throw translateError(error, path);
  }
  return {
    store,
    stateDirectory: stateBeside(path),
    wakeups: fileWakeups(stateBeside(path)),
    clock,
    created,
    schema: { found, known: SCHEMA_VERSION, oldest: SCHEMA_VERSION },
    warning:
      created && hadState
        ? `${path} was missing, although ${path}.d exists; created a new, empty queue`
        : networkWarning(path),
  };
}

/** Opens the file in WAL mode. From then on, `restore` and `db repair` cannot replace it. If one of them has just replaced it, opens the new file. */
async function openInWalMode(
  path: string,
  settings: Parameters<typeof connect>[1],
  access: Access,
): Promise<{ connection: Connection; found: number }> {
  for (;;) {
    const connection = await connect(path, settings);
    try {
      const checkVersion = async (): Promise<number> => {
        const version = await connection.read(() => readVersion(connection));
        if (access === 'read' || access === 'write') refuseOlder({ version }, path);
        return version;
      };
      // A database of another program or an unsupported version is refused before anything in it changes.
      let found = await checkVersion();
      let isCurrent = connection.isCurrent();
      // A file in WAL mode was locked by that read, so nobody has replaced or switched it since.
      if (isCurrent && (await connection.useWal())) {
        isCurrent = connection.isCurrent();
        if (isCurrent) found = await checkVersion();
      }
      if (isCurrent) return { connection, found };
      // If the file was removed, this throws, because the next round would create it again.
      if (!existsSync(path)) connection.checkFile();
    } catch (error) {
      if (!isMoved(error)) {
        connection.close();
        throw translateError(error, path);
      }
    }
    connection.close();
  }
}

/** Checks the file, or creates it before SQLite does, so that nobody else can read it even for a moment. */
function prepareFiles(location: string, create: boolean, anyOwner: boolean) {
  try {
    // The files that SQLite creates beside the database have longer names, which must fit into 255 bytes.
    const name = basename(location);
    // A UTF-16 code unit takes at most three bytes, so a short name needs no exact count.
    if (name.length * 3 > LONGEST_NAME_BYTES && byteLength(name) > LONGEST_NAME_BYTES)
      throw new QueueError('store-unavailable', `${location} cannot be opened: its name is too long`);
    const found = statSync(location, { throwIfNoEntry: false });
    refuseNonFile(location, found);
    // This comes before SQLite opens the database, because SQLite also reads the files beside it.
    const realPath = found && realpathSync(location);
    refuseUnsafe(realPath ?? location, anyOwner);
    const created = create && found === undefined && createIfMissing(location, anyOwner);
    const path = realPath ?? realpathSync(location);
    const stat = found ?? statSync(path);
    refuseOddFile(path, created, stat);
    accessSync(path, constants.R_OK | constants.W_OK);
    if (stat.size === 0) syncDirectories(path); // fault-control: sync-new-store
    return { path, created };
  } catch (error) {
    throw translateError(error, location);
  }
}

/** Creates the file and its directories. Returns false if there is something at the path. */
function createIfMissing(location: string, anyOwner: boolean): boolean {
  if (!existsSync(dirname(location))) {
    mkdirSync(dirname(location), { recursive: true, mode: 0o700 });
    // In a directory such as /tmp another user may have created it first.
    refuseUnsafe(location, anyOwner);
  }
  refuseLeftWal(location);
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
 * empty does this before it writes, because the process that created it may have died.
 */
function syncDirectories(path: string): void {
  const directory = dirname(path);
  if (directory === path) return;
  try {
    sync(directory);
  } catch (error) {
    // A directory that cannot be opened was not created here. Some file systems cannot sync directories.
    const { syscall, code } = error as NodeJS.ErrnoException;
    if (syscall !== 'open' && code !== 'EINVAL') throw error;
  }
  syncDirectories(directory);
}

function networkWarning(path: string): string | null {
  const name = networkFileSystemOf(dirname(path));
  return name === null ? null : `${path} is on a ${name} file system; SQLite is only safe on local disks`;
}
