import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { crashPoint } from '../../../core/crash-point.ts';
import { QueueError } from '../../../core/errors.ts';
import { sync, syncFile } from '../../../files/durable.ts';
import { pidsWithOpen } from '../../../files/read.ts';
import { isThere } from '../../../files/save-as.ts';
import { type LockedStore, lockSqlite } from './lock.ts';
import { removeSecondName, secondNameOf } from './second-name.ts';

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
