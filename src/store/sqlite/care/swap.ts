import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { crashPoint } from '../../../core/crash-point.ts';
import { QueueError } from '../../../core/errors.ts';
import { sync, syncFile } from '../../../files/durable.ts';
import { pidsWithOpen } from '../../../files/read.ts';
import { isThere } from '../../../files/save-as.ts';
import { copyBytes } from '../../../files/write.ts';
import { type Connection, connect, fileId } from '../connection.ts';
import { translateError } from '../failures.ts';
import { removeSecondName, secondNameOf } from './second-name.ts';

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

export function refuseWhileUsed(db: string): void {
  const [holder] = pidsWithOpen(db);
  if (holder === undefined) return;
  throw new QueueError(
    'store-busy',
    `${db} is in use by process ${holder}`,
    `to stop workers: queuectl worker stop. To stop a server: kill ${holder}`,
  );
}

/** Locks all others out of the store. */
export async function takeStore(db: string): Promise<LockedStore> {
  try {
    return await lockSqlite(db);
  } catch (error) {
    if (error instanceof QueueError && error.code === 'store-busy') refuseWhileUsed(db);
    throw error;
  }
}

/**
 * Replaces the held store with the draft in one step. The old store gets a second name first, so that it is never without a name.
 * Returns the path at which it is kept, or null if there was only an empty file.
 */
export function swap(
  draft: string,
  db: string,
  held: LockedStore,
  { word, now }: { word: string; now: number },
): string | null {
  const secondName = secondNameOf(db);
  const keptPath = (reason: string): string =>
    unusedPath(`${db}.${reason}-${new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')}`);
  crashPoint('swap-held');
  // No lock protects a file that SQLite cannot read.
  if (!held.isReadable) refuseWhileUsed(db);
  if (!held.isCurrent())
    throw new QueueError('store-busy', `another process has replaced ${db} in the meantime`);
  removeSecondName(db);
  // A restore that was killed after the replacement has left the store that it replaced.
  moveStore(secondName, keptPath('before'));
  linkSync(db, secondName);
  crashPoint('swap-linked');
  // The new store must never have the parts of the old one beside it, not even after a power cut.
  if (!held.isReadable) moveParts(db, secondName);
  sync(dirname(db));
  const isEmpty = statSync(secondName).size === 0 && !existsSync(`${secondName}-wal`);
  renameSync(draft, db);
  crashPoint('swap-replaced');
  syncFile(db);
  const kept = isEmpty ? null : keptPath(word);
  if (kept === null) rmSync(secondName);
  else moveStore(secondName, kept);
  crashPoint('swap-kept');
  sync(dirname(db));
  return kept;
}

/** The suffixes of the files that are moved with a database, because they hold a part of its contents. */
const MOVED_SUFFIXES = ['-wal', '-journal'];

/** Moves a store, if there is one, with all its parts. */
function moveStore(from: string, to: string): void {
  moveParts(from, to);
  if (existsSync(from)) renameSync(from, to);
}

function moveParts(from: string, to: string): void {
  for (const end of MOVED_SUFFIXES) if (existsSync(from + end)) renameSync(from + end, to + end);
  rmSync(`${from}-shm`, { force: true });
}

/** Returns a path that is free for a store and all its parts. */
function unusedPath(name: string): string {
  let free = name;
  for (let n = 2; ['', ...MOVED_SUFFIXES].some((end) => isThere(free + end)); n++) free = `${name}.${n}`;
  return free;
}
