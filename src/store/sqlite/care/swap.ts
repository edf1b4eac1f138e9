import { closeSync, existsSync, linkSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crashPoint } from '../../../core/crash-point.ts';
import { QueueError } from '../../../core/errors.ts';
import { sync, syncFile } from '../../../files/durable.ts';
import { pidsWithOpen } from '../../../files/read.ts';
import { isThere } from '../../../files/save-as.ts';
import { connect, fileId } from '../connection.ts';
import { translateError } from '../failures.ts';
import { checkSafety } from './owner.ts';
import { refuseSecondName, removeSecondName, secondNameOf } from './second-name.ts';

/** A store that nobody else can use, so that its file can be read and replaced. */
export interface LockedStore {
  /** The locked database, whose WAL SQLite has copied into it. Null if SQLite cannot read it. Then there is no lock, and the WAL is left. */
  database: DatabaseSync | null;
  /** Tells whether the path still leads to this file. */
  isCurrent(): boolean;
  unlock(): void;
}

/** Locks a store. Nothing else in this process must open the file meanwhile, because closing it would drop the lock. */
export async function lockSqlite(path: string): Promise<LockedStore> {
  for (;;) {
    const file = fileId(path);
    const database = await openAndLock(path);
    const isCurrent = (): boolean => fileId(path) === file;
    if (isCurrent()) return { database, isCurrent, unlock: () => database?.close() };
    // While this process waited, another restore or repair has moved the file away.
    database?.close();
  }
}

/** Error codes after which a later try may succeed. Any other error means that SQLite cannot read the file. */
const TEMPORARY_ERRORS = new Set(['store-busy', 'disk-full', 'store-unavailable']);

/** Returns null if SQLite cannot read the file, or would drop its WAL because the file has at most one byte. */
async function openAndLock(path: string): Promise<DatabaseSync | null> {
  if (statSync(path).size <= 1 && existsSync(`${path}-wal`)) return null;
  const opened: DatabaseSync[] = [];
  const open = (): DatabaseSync => (opened[0] = new DatabaseSync(path));
  try {
    await (await connect(path, { open })).lockOut();
    return opened[0]!;
  } catch (error) {
    if (opened[0]?.isOpen) opened[0].close();
    if (!(error instanceof QueueError) || !TEMPORARY_ERRORS.has(error.code)) return null;
    if (error.code === 'store-busy') refuseWhileUsed(path);
    throw error;
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

/** Throws if the database must not be replaced: it is not safe, has a second name, or is in use. */
export function refuseReplacing(location: string, db: string, anyOwner: boolean): void {
  checkSafety(resolve(location), anyOwner);
  refuseSecondName(db);
  refuseWhileUsed(db);
}

function refuseWhileUsed(db: string): void {
  const [holder] = pidsWithOpen(db);
  if (holder === undefined) return;
  throw new QueueError(
    'store-busy',
    `${db} is in use by process ${holder}`,
    `to stop workers: queuectl worker stop. To stop a server: kill ${holder}`,
  );
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
  if (held.database === null) refuseWhileUsed(db);
  if (!held.isCurrent())
    throw new QueueError('store-busy', `another process has replaced ${db} in the meantime`);
  removeSecondName(db);
  // A restore that was killed after the replacement has left the store that it replaced.
  moveStore(secondName, keptPath('before'));
  linkSync(db, secondName);
  crashPoint('swap-linked');
  // The new store must never have the parts of the old one beside it, not even after a power cut.
  if (held.database === null) moveParts(db, secondName);
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
