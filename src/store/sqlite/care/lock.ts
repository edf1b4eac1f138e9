import { closeSync, constants, copyFileSync, existsSync, fstatSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { QueueError } from '../../../core/errors.ts';
import { copyBytes } from '../../../files/write.ts';
import { type Connection, connect, fileId } from '../connection.ts';
import { translateError } from '../failures.ts';

/** A store that nobody else can use, so that its file can be read and replaced. */
export interface LockedStore {
  /** Tells whether SQLite can read the file. SQLite has then locked it and copied the WAL into it. Otherwise the WAL is left. */
  isReadable: boolean;
  /** Tells whether the path still leads to this file. */
  isCurrent(): boolean;
  /** Copies the bytes of the file, damaged or not, and of a WAL that is left. */
  copyTo(path: string): void;
  unlock(): void;
}

/** Error codes after which a later try may succeed. Any other error means that SQLite cannot read the file. */
const TEMPORARY_ERRORS = new Set(['store-busy', 'disk-full', 'store-unavailable']);

/** `lockSqlite` throws if the file is replaced this many times in a row while it waits for the lock. */
const MOST_TRIES = 10;

/** Locks a store. Nothing else in this process must open the file meanwhile, because closing it would drop the lock. */
export async function lockSqlite(path: string): Promise<LockedStore> {
  for (let tries = 1; ; tries++) {
    const locked = await lockOnce(path);
    // While this process waited, another restore or repair may have moved the file away.
    if (locked.isCurrent()) return locked;
    locked.unlock();
    if (tries === MOST_TRIES)
      throw new QueueError('store-busy', `${path} is being replaced repeatedly by another process`);
  }
}

async function lockOnce(path: string): Promise<LockedStore> {
  const file = fileId(path);
  const descriptor = openRaw(path);
  let connection: Connection | null;
  try {
    connection = await connectAndLock(path, fstatSync(descriptor).size);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  const isReadable = connection !== null;
  return {
    isReadable,
    isCurrent: () => fileId(path) === file,
    copyTo(target) {
      copyBytes(descriptor, target);
      if (!isReadable && existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${target}-wal`);
    },
    unlock() {
      connection?.close();
      closeSync(descriptor);
    },
  };
}

function openRaw(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw translateError(error, path);
  }
}

/** Returns null if SQLite cannot read the file, or would drop its WAL because the file has at most one byte. */
async function connectAndLock(path: string, size: number): Promise<Connection | null> {
  if (size <= 1 && existsSync(`${path}-wal`)) return null;
  let connection: Connection | null = null;
  try {
    connection = await connect(path);
    await connection.lockOut();
    return connection;
  } catch (error) {
    connection?.close();
    if (error instanceof QueueError && TEMPORARY_ERRORS.has(error.code)) throw error;
    return null;
  }
}

/** Creates the file of a draft before SQLite does, so that nobody else can read it even for a moment. */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    // The error names the directory of the target, because users do not know the names of drafts.
    throw translateError(error, dirname(dirname(path)));
  }
}
