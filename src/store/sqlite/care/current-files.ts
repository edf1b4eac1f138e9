import { existsSync, lstatSync, readFileSync, realpathSync, rmSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { pause } from '../../../core/clock.ts';
import { QueueError } from '../../../core/errors.ts';
import { isMountPoint } from '../../../files/mounts.ts';
import { pidsWithOpen } from '../../../files/open-files.ts';
import type { OpenedStore } from '../../store-kind.ts';

/** SQLite creates or removes its files in less time than this. */
const FILE_CHANGE_MS = 50;
const FILE_POLL_MS = 1;
/** Workers and servers that use a removed file notice that and end within this time, unless they are suspended. */
const NOTICE_LIMIT_MS = 10_000;
const HOLDERS_POLL_MS = 100;
const OPEN_TRIES = 3;

/**
 * Opens a store with the -wal and -shm files that all others use. Throws if the store has a second name. If these files change
 * meanwhile, the store is opened again, because what was read may be out of date. They change if somebody removes them, or if
 * SQLite does when the last process closes the database.
 */
export async function openWithCurrentFiles(
  location: string,
  isBrief: boolean,
  open: (isBrief: boolean) => Promise<OpenedStore>,
): Promise<OpenedStore> {
  for (let tries = 1; ; tries++) {
    const stat = statIfReadable(location);
    if (stat === null) return open(false);
    const db = realpathSync(location);
    // Most databases need no closer look.
    if (stat.nlink > 1 || isMountPoint(db)) await refuseSecondName(db, stat);
    const alone = isBrief && tries === 1 ? await openIfUnused(db, open) : null;
    if (alone !== null) return alone;
    const oldFiles = await waitForStableFiles(db);
    const haveChanged = (): boolean => oldFiles !== null && identitiesOf(db).join() !== oldFiles.join();
    try {
      const opened = await open(false);
      if (!haveChanged()) return opened;
      const newFiles = identitiesOf(db);
      await opened.store.close();
      removeNewFiles(db, oldFiles!, newFiles);
    } catch (error) {
      const isRemoved = error instanceof QueueError && error.code === 'store-files-removed';
      if (tries >= OPEN_TRIES || !(isRemoved || haveChanged())) throw error;
    }
  }
}

/** Returns null if there is no file, or if its directory cannot be read. */
function statIfReadable(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

/**
 * Opens a store that no other process has open, and locks out others. Returns null if that fails. So it need not look for other
 * processes in /proc/locks: the kernel often takes 20 milliseconds to make that list.
 */
async function openIfUnused(
  db: string,
  open: (isBrief: boolean) => Promise<OpenedStore>,
): Promise<OpenedStore | null> {
  if (existsSync(`${db}-wal`) || existsSync(`${db}-shm`)) return null;
  try {
    return await open(true);
  } catch (error) {
    if (error instanceof QueueError && error.code === 'store-busy') return null;
    throw error;
  }
}

/** Removes the new -wal and -shm if other processes still have the old, removed ones open. Keeps a -wal with contents. */
function removeNewFiles(db: string, oldFiles: FileIdentities, newFiles: FileIdentities): void {
  if (holdersOfRemovedFiles(db).length === 0) return;
  const [wal, shm] = identitiesOf(db);
  const isEmpty = statSync(`${db}-wal`, { throwIfNoEntry: false })?.size === 0;
  if (shm === newFiles[1] && shm !== oldFiles[1]) removeIfOwned(`${db}-shm`, db);
  if (wal === newFiles[0] && wal !== oldFiles[0] && isEmpty) removeIfOwned(`${db}-wal`, db);
}

/**
 * Throws if the database has two names or is mounted as a single file. SQLite finds the -wal and -shm files by the name of the
 * database. So processes that use different names would not see each other's jobs, and would overwrite them.
 */
export async function refuseSecondName(
  db: string,
  stat = statSync(db, { throwIfNoEntry: false }),
): Promise<void> {
  if (!stat?.isFile()) return;
  const names = stat.nlink > 1 ? await countNames(db) : 1;
  if (names > 1)
    throw new QueueError(
      'two-names',
      `${db} has ${names} names (hard links), and SQLite would use separate -wal and -shm files for each of them`,
      `find the other names (find ${dirname(db)} -xdev -samefile ${db}) and remove them. Or, while nothing uses the queue, replace it with a copy: cp --reflink=auto ${db} ${db}.copy && mv ${db}.copy ${db}`,
    );
  if (isMountPoint(db))
    throw new QueueError(
      'two-names',
      `${db} is mounted as a single file, and its -wal and -shm files are not shared with the original directory`,
      `mount its directory instead, for example docker run -v /path/of/its/directory:${dirname(db)}`,
    );
}

/** Counts the names (hard links) without those that a restore, repair or backup creates for a moment. */
async function countNames(db: string): Promise<number> {
  const { countOwnLinks } = await import('./swap.ts');
  for (;;) {
    const before = statSync(db);
    const ownLinks = countOwnLinks(db);
    const after = statSync(db);
    // If the two differ, a name was created or removed meanwhile, and the links are counted again.
    if (before.ino === after.ino && before.nlink === after.nlink) return after.nlink - ownLinks;
  }
}

/** Throws if even a reader would see an old state, because the store has a second name or its -wal or -shm was removed. */
export async function refuseReading(location: string): Promise<void> {
  if (!existsSync(location)) return;
  const db = realpathSync(location);
  await refuseSecondName(db);
  refuseRemovedFiles(db);
}

/**
 * Throws while other processes have a removed -wal or -shm open, and names these processes. A suspended process (SIGSTOP,
 * Ctrl-Z) still has to save the contents of its file, which it can do only while nobody has created a new one.
 */
function refuseRemovedFiles(db: string): void {
  const holders = holdersOfRemovedFiles(db);
  if (holders.length === 0) return;
  const pids = holders.join(' ');
  throw new QueueError(
    'store-files-removed',
    `the -wal or -shm file of ${db} was removed while in use; process ${pids} still has the old one open`,
    `let stopped processes continue, so that they can save its contents: kill -CONT ${pids}. Wait a few seconds, then stop the remaining ones: kill ${pids} (jobs keep running)`,
  );
}

/**
 * Waits until no process has a removed -wal or -shm open. Throws after NOTICE_LIMIT_MS. Returns the files with which to open the
 * database, or null if any will do.
 *
 * SQLite creates the -wal before the -shm, removes it after the -shm, and keeps both while a process uses the database. So a
 * missing file was removed by somebody if a process has the database open or if the other file exists. Processes that have a
 * removed file open notice that within a second, save its contents and end. Until then nobody else must open the database: with
 * a new -wal the contents of the old one would be lost, and with a new -shm there would be no common lock.
 */
async function waitForStableFiles(db: string): Promise<FileIdentities | null> {
  const oldFiles = identitiesOf(db);
  if (!isIncomplete(oldFiles, db)) return oldFiles[0] === null ? null : oldFiles;
  for (let waited = 0; waited < FILE_CHANGE_MS; waited += FILE_POLL_MS) {
    await pause(FILE_POLL_MS);
    const newFiles = identitiesOf(db);
    if (!isIncomplete(newFiles, db) || newFiles.join() !== oldFiles.join()) return waitForStableFiles(db);
  }
  const end = performance.now() + NOTICE_LIMIT_MS;
  while (holdersOfRemovedFiles(db).length > 0 && performance.now() < end) await pause(HOLDERS_POLL_MS);
  refuseRemovedFiles(db);
  // This -shm describes a -wal that is gone, and no process has it open any more.
  if (oldFiles[0] === null && identitiesOf(db).join() === oldFiles.join()) removeIfOwned(`${db}-shm`, db);
  return null;
}

/** The identities of the -wal and the -shm file, or null. The creation time differs if an inode number is reused. */
type FileIdentities = [wal: string | null, shm: string | null];

function identitiesOf(db: string): FileIdentities {
  const identityOf = (path: string): string | null => {
    const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
    return stat === undefined ? null : `${stat.ino}:${stat.birthtimeNs}`;
  };
  return [identityOf(`${db}-wal`), identityOf(`${db}-shm`)];
}

/** Tells whether a file is missing that should exist. That is normal for a moment, while SQLite creates or removes the files. */
function isIncomplete([wal, shm]: FileIdentities, db: string): boolean {
  return wal === null && shm === null ? isLocked(statSync(db).ino) : wal === null || shm === null;
}

/** The kernel returns a list of locks longer than ONE_PAGE_BYTES in pages, and locks may move between them. So it is read again. */
const LOCK_READS = 5;
const ONE_PAGE_BYTES = 3500;

/** Tells whether a process has the database open, by the lock that it holds. This is cheaper than listing the files of processes. */
function isLocked(inode: number): boolean {
  try {
    for (let reads = 0; reads < LOCK_READS; reads++) {
      const locks = readFileSync('/proc/locks', 'latin1');
      if (locks.includes(`:${inode} `)) return true;
      if (locks.length < ONE_PAGE_BYTES) return false;
    }
    return false;
  } catch {
    return false;
  }
}

/** Returns the other processes that have a removed -wal or -shm file of this database open. */
function holdersOfRemovedFiles(db: string): number[] {
  return pidsWithOpen(`${db}-wal (deleted)`, `${db}-shm (deleted)`);
}

/** Removes a file if it belongs to the owner of the database. `refuseUnsafe` refuses files of others. */
function removeIfOwned(path: string, db: string): void {
  try {
    if (lstatSync(path).uid === statSync(db).uid) rmSync(path);
  } catch {
    // The file is gone, or this user may not remove it.
  }
}
