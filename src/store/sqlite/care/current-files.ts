import { existsSync, lstatSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { pause } from '../../../core/clock.ts';
import { QueueError } from '../../../core/errors.ts';
import { holdersOf } from '../../../files/holders.ts';
import { isMountPoint } from '../../../files/mounts.ts';
import type { OpenedStore } from '../../open.ts';

/** SQLite makes or removes its files in less time than this. */
const ODD_MS = 50;
const LOOK_MS = 1;
/** Workers and servers that use a removed file notice that and end within this time, unless they are stopped. */
const NOTICE_MS = 10_000;
const HOLDERS_LOOK_MS = 100;
const OPEN_TRIES = 3;

/**
 * Opens a store that has one name, with the -wal and -shm files that all others use. If these change meanwhile, somebody removed
 * them, or SQLite did when the last process closed the database. What was read may be out of date then, so it starts again.
 * Nothing was written yet.
 */
export async function openWithCurrentFiles(
  location: string,
  open: () => Promise<OpenedStore>,
): Promise<OpenedStore> {
  for (let tries = 1; ; tries++) {
    const db = existsSync(location) ? realpathSync(location) : null;
    if (db === null) return open();
    await refuseSecondName(db);
    const found = await settleFiles(db);
    const haveChanged = (): boolean => found !== null && look(db).join() !== found.join();
    try {
      const opened = await open();
      if (!haveChanged()) return opened;
      const made = look(db);
      await opened.store.close();
      takeBack(db, found!, made);
    } catch (error) {
      const isRemoved = error instanceof QueueError && error.code === 'store-files-removed';
      if (tries >= OPEN_TRIES || !(isRemoved || haveChanged())) throw error;
    }
  }
}

/** Removes the files that were made beside files that others still have open, but no -wal that has contents. */
function takeBack(db: string, found: Files, made: Files): void {
  if (removedHolders(db).length === 0) return;
  const [wal, shm] = look(db);
  const isEmpty = statSync(`${db}-wal`, { throwIfNoEntry: false })?.size === 0;
  if (shm === made[1] && shm !== found[1]) removeOwn(`${db}-shm`, db);
  if (wal === made[0] && wal !== found[0] && isEmpty) removeOwn(`${db}-wal`, db);
}

/**
 * SQLite finds the -wal and -shm files by the name of the database, so each name has its own. Two processes that use two names
 * would not see each other's jobs, and would overwrite them.
 */
export async function refuseSecondName(db: string): Promise<void> {
  const stat = statSync(db, { throwIfNoEntry: false });
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

/** Counts the names without those that a restore, repair or backup makes for a moment. */
async function countNames(db: string): Promise<number> {
  const { countOwnLinks } = await import('./swap.ts');
  for (;;) {
    const before = statSync(db);
    const own = countOwnLinks(db);
    const after = statSync(db);
    // Otherwise a name was made or removed meanwhile.
    if (before.ino === after.ino && before.nlink === after.nlink) return after.nlink - own;
  }
}

/** Throws if the store must not even be read. With another name or other files, another state of it would be read. */
export async function refuseReading(location: string): Promise<void> {
  if (!existsSync(location)) return;
  const db = realpathSync(location);
  await refuseSecondName(db);
  refuseRemovedFiles(db);
}

/**
 * Throws as long as another process has removed files open, and names it. A process that was stopped (SIGSTOP, Ctrl-Z) still
 * has to save what is in them, which it can do only while nobody has made new ones.
 */
function refuseRemovedFiles(db: string): void {
  const holders = removedHolders(db);
  if (holders.length === 0) return;
  const pids = holders.join(' ');
  throw new QueueError(
    'store-files-removed',
    `the -wal or -shm file of ${db} was removed while in use; process ${pids} still has the old one open`,
    `let stopped processes continue, so that they can save its contents: kill -CONT ${pids}. Wait a few seconds, then stop the remaining ones: kill ${pids} (jobs keep running)`,
  );
}

/**
 * Waits until no process has removed files open, and throws if one still has. SQLite makes the -wal before the -shm, removes it
 * after the -shm, and has both while a process uses the database. So a missing one was removed if a process has the database
 * open or if the other one exists. Processes that have removed files open notice that within a second, save the contents and
 * end. Until then nobody else may open the database. With a new -wal the contents of the old one would be lost. With a new -shm
 * both would write into one -wal without a common lock. Returns the files to open the database with, or null for any files.
 */
async function settleFiles(db: string): Promise<Files | null> {
  const found = look(db);
  if (!isOdd(found, db)) return found[0] === null ? null : found;
  for (let waited = 0; waited < ODD_MS; waited += LOOK_MS) {
    await pause(LOOK_MS);
    const now = look(db);
    if (!isOdd(now, db) || now.join() !== found.join()) return settleFiles(db);
  }
  const end = performance.now() + NOTICE_MS;
  while (removedHolders(db).length > 0 && performance.now() < end) await pause(HOLDERS_LOOK_MS);
  refuseRemovedFiles(db);
  // This -shm describes a -wal that is gone, and no process has it open any more.
  if (found[0] === null && look(db).join() === found.join()) removeOwn(`${db}-shm`, db);
  return null;
}

/** The -wal and the -shm file, or null. The time tells a new file from an old one with the same number. */
type Files = [wal: string | null, shm: string | null];

function look(db: string): Files {
  const one = (path: string): string | null => {
    const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
    return stat === undefined ? null : `${stat.ino}:${stat.birthtimeNs}`;
  };
  return [one(`${db}-wal`), one(`${db}-shm`)];
}

/** Tells whether files are missing. That is normal for a moment, while SQLite makes or removes them. */
function isOdd([wal, shm]: Files, db: string): boolean {
  return wal === null && shm === null ? isLocked(statSync(db).ino) : wal === null || shm === null;
}

/** The kernel returns its list of locks page by page, and a lock may move to another page between two reads. */
const LOOKS_AT_LOCKS = 5;
const ONE_PAGE = 3500;

/** Tells whether a process has the database open, by the lock that it holds. This needs no look at every process. */
function isLocked(file: number): boolean {
  try {
    for (let looks = 0; looks < LOOKS_AT_LOCKS; looks++) {
      const locks = readFileSync('/proc/locks', 'latin1');
      if (locks.includes(`:${file} `)) return true;
      if (locks.length < ONE_PAGE) return false;
    }
    return false;
  } catch {
    return false;
  }
}

/** Returns the other processes that have a removed -wal or -shm file of this database open. */
function removedHolders(db: string): number[] {
  return holdersOf(`${db}-wal (deleted)`, `${db}-shm (deleted)`);
}

/** Removes a file if it belongs to the owner of the database. Files of others are refused elsewhere. */
function removeOwn(path: string, db: string): void {
  try {
    if (lstatSync(path).uid === statSync(db).uid) rmSync(path);
  } catch {
    // It is gone, or may not be removed. SQLite makes it again if nobody has it open.
  }
}
