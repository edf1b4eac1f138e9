import { readlinkSync, type Stats, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { pauseSync } from '../../core/clock.ts';
import { QueueError } from '../../core/errors.ts';
import { orNull } from '../../core/or-null.ts';
import { namesIn } from '../../files/names-in.ts';

/** Readers check this often whether the files still exist. */
const CHECK_INTERVAL_MS = 1000;
/** A process that neither reads nor writes checks this often. An idle worker reads once a second, and so never needs this timer. */
const IDLE_INTERVAL_MS = 1500;
const SAVE_TRIES = 100;
const SAVE_PAUSE_MS = 5;

/** Returns the identity of the file at a path, or 'none'. It does not open the file, because closing it would drop SQLite's locks. */
export function fileId(path: string): string {
  const stat = statSync(path, NO_THROW);
  return stat === undefined ? 'none' : `${stat.dev}:${stat.ino}`;
}

const NO_THROW = { throwIfNoEntry: false } as const;

/** The name of a file, and its identity, which is undefined if the file did not exist. */
interface KnownFile {
  name: string;
  stat: Stats | undefined;
}

/**
 * Notices that the -wal or -shm file of a connection was removed. Every write checks both files after its commit and before
 * the commit is acknowledged, so an acknowledged commit is in files that others read, too. A commit that is not acknowledged
 * does no harm: other processes write nothing until all that have the old files open have noticed the removal
 * (care/current-files.ts). Once this connection has noticed it, it neither reads nor writes.
 */
export function watchLiveFiles(path: string, isCurrent: () => boolean, isAlone = false) {
  let files: KnownFile[] = [];
  let database: DatabaseSync | null = null;
  let removed: string | null = null;
  let saved = false;
  let checkedAt = 0;
  let timer: NodeJS.Timeout | undefined;

  const isAnyGone = (): boolean => {
    for (const file of files) {
      if (removed !== null) return true;
      const fate = fateOf(file);
      // If the database itself was replaced, this does not count: SQLite notices that when it closes the database.
      if ((fate === 'removed' || fate === 'replaced') && isCurrent()) removed = file.name;
    }
    return removed !== null;
  };
  /** Throws if one of the files was removed, with `suffix` at the end of the message. */
  const checkFiles = (suffix = ''): void => {
    if (isAnyGone())
      throw new QueueError(
        'store-files-removed',
        `${removed} was removed while this process was using it${suffix}`,
      );
    if (!isAlone) checkedAt = performance.now();
    timer?.refresh();
  };
  /** Tells whether one of the files was removed. If so, saves what was committed into it. */
  const noticeRemoval = (): boolean => {
    if (!isAnyGone()) return false;
    if (!saved && database !== null && !database.isTransaction) {
      saved = true;
      clearInterval(timer);
      saveCommitted(database, path);
    }
    return true;
  };
  return {
    /** Remembers the files that are open now. Nothing is checked before this call. Keeps `opened` from being garbage-collected. */
    start(opened: DatabaseSync): void {
      database = opened;
      openStores.set(noticeRemoval, { path, database: opened });
      if (isAlone) {
        // Nobody else can open the database, so a file with the name of the -wal is this one. There is no -shm.
        files = [{ name: `${path}-wal`, stat: statSync(`${path}-wal`, NO_THROW) }];
        return;
      }
      files = liveFilesOf(path);
      // An idle process checks too, because others wait until it has noticed a removal.
      timer = setInterval(noticeRemoval, IDLE_INTERVAL_MS).unref();
      checkFiles();
    },
    stop(): void {
      clearInterval(timer);
      openStores.delete(noticeRemoval);
    },
    checkFiles,
    /** Checks both files, unless they were checked a moment ago. The first use of the clock takes a short command too long. */
    checkSometimes(): void {
      if (!isAlone && performance.now() - checkedAt > CHECK_INTERVAL_MS) checkFiles();
    },
    /** Runs `work`. If it fails and a file was removed, saves what was committed and throws the error for a removed file. */
    guard<T>(work: () => T): T {
      if (removed !== null) checkFiles();
      try {
        return work();
      } catch (error) {
        if (noticeRemoval() && !(error instanceof QueueError && error.code === 'store-files-removed'))
          checkFiles();
        throw error;
      }
    },
    /** Tells whether a removed file was, or may have been, replaced by another. SQLite must not close the database then. */
    isReplaced(): boolean {
      const fates = noticeRemoval() ? files.map(fateOf) : [];
      return fates.includes('replaced') || fates.includes('unknown');
    },
  };
}

export type FileWatch = ReturnType<typeof watchLiveFiles>;

/**
 * Copies what is committed from the removed -wal into the database, if that is safe. While there is no new -wal, nobody has
 * opened the database since: a process that opens it creates one, and cannot remove it before this process ends. An empty
 * -wal has just been created, and the process that did so removes it again (care/current-files.ts).
 */
function saveCommitted(database: DatabaseSync, path: string): void {
  for (let tries = 0; tries < SAVE_TRIES; tries++) {
    const wal = statSync(`${path}-wal`, NO_THROW);
    if (wal !== undefined && wal.size > 0) return;
    if (wal === undefined && checkpoint(database)) return;
    pauseSync(SAVE_PAUSE_MS);
  }
}

/** Copies the -wal into the database. Returns whether all of it was copied. */
function checkpoint(database: DatabaseSync): boolean {
  try {
    const row = database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() as Record<string, number>;
    return row.busy === 0 && row.log === row.checkpointed;
  } catch {
    // Another process with the same files is writing at this moment.
    return false;
  }
}

/** Compares the file with the one that has its name now. Every write calls this, so it compares numbers instead of building texts. */
function fateOf({ name, stat: was }: KnownFile): 'same' | 'removed' | 'replaced' | 'unknown' {
  try {
    const now = statSync(name, NO_THROW);
    if (now?.ino === was?.ino && now?.dev === was?.dev) return 'same';
    return now === undefined ? 'removed' : 'replaced';
  } catch {
    // The directory can no longer be read.
    return 'unknown';
  }
}

/**
 * Finds the -wal and -shm files that this process has open for a database. On Linux its descriptors show them. The names alone
 * could lead to files that another process created after these had been removed.
 */
function liveFilesOf(path: string): KnownFile[] {
  const open = ownDescriptors();
  return ['-wal', '-shm'].map((suffix) => {
    const name = path + suffix;
    // A removed file comes first: SQLite shares one -shm between all connections of a process.
    const descriptor = open.get(`${name} (deleted)`) ?? open.get(name);
    return { name, stat: statSync(descriptor ?? name, NO_THROW) };
  });
}

function ownDescriptors(): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of namesIn('/proc/self/fd')) {
    const link = `/proc/self/fd/${name}`;
    // The descriptor that listed the directory is closed by now.
    const target = orNull(() => readlinkSync(link));
    if (target !== null) found.set(target, link);
  }
  return found;
}

/** The open stores, by their `noticeRemoval`. A database stays here until it is closed. */
const openStores = new Map<() => boolean, { path: string; database: DatabaseSync }>();

/** Tells whether this process has a store open whose -wal or -shm file was removed. */
export function hasRemovedFiles(): boolean {
  for (const noticeRemoval of openStores.keys()) if (noticeRemoval()) return true;
  return false;
}

/** Tells whether this process has this store open. Then only SQLite may open its file. */
export function isOpenHere(path: string): boolean {
  return [...openStores.values()].some((store) => store.path === path);
}

/** Throws if this process has the database open with removed files, because SQLite would use the old -shm again. */
export function refuseReopening(path: string): void {
  for (const [noticeRemoval, store] of openStores)
    if (store.path === path && noticeRemoval())
      throw new QueueError(
        'store-files-removed',
        `the -wal or -shm file of ${path} was removed while this process was using it`,
      );
}
