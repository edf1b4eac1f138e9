import { readlinkSync, type Stats, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { pauseSync } from '../../core/clock.ts';
import { QueueError } from '../../core/errors.ts';
import { orNull } from '../../core/or-null.ts';
import { namesIn } from '../../files/names-in.ts';

const LIVE_FILES = ['-wal', '-shm'] as const;
type LiveFile = (typeof LIVE_FILES)[number];

/** Readers and idle processes check this often that the files still exist. */
const LOOK_MS = 1000;
const SAVE_TRIES = 100;
const SAVE_PAUSE_MS = 5;

/** Tells which file a path leads to. It opens nothing: closing a descriptor would drop SQLite's locks. */
export function fileOf(path: string): string {
  const stat = statSync(path, IF_THERE);
  return stat === undefined ? 'none' : `${stat.dev}:${stat.ino}`;
}

const IF_THERE = { throwIfNoEntry: false } as const;

/** The name of a file, and its identity. Undefined if it did not exist. */
interface Known {
  name: string;
  stat: Stats | undefined;
}

/**
 * Notices that the -wal or -shm file of a connection was removed, at the cost of one look at each with every write. The look
 * comes after the commit and before it is acknowledged, so an acknowledged commit is in files that others read, too. A commit
 * that is not acknowledged does no harm: a later process writes nothing before all that have the old files open have noticed
 * the removal (care/current-files.ts). From then on this connection neither reads nor writes.
 */
export function watchLiveFiles(path: string, isCurrent: () => boolean) {
  let files: Record<LiveFile, Known> | null = null;
  let database: DatabaseSync | null = null;
  let removed: LiveFile | null = null;
  let saved = false;
  let lookedAt = 0;
  let timer: NodeJS.Timeout | undefined;

  const isGone = (file: LiveFile): boolean => {
    // If the database was replaced as a whole, SQLite itself notices that when it is closed.
    const fate = removed === null && files !== null ? fateOf(files[file]) : 'same';
    if ((fate === 'removed' || fate === 'replaced') && isCurrent()) removed = file;
    return removed !== null;
  };
  /** Throws if one of the files was removed. `more` is added to the message. */
  const lookAtBoth = (more = ''): void => {
    if (LIVE_FILES.some(isGone))
      throw new QueueError(
        'store-files-removed',
        `${path}${removed} was removed while this process was using it${more}`,
      );
    lookedAt = performance.now();
  };
  /** Tells whether one of the files was removed, and saves what was committed into it. */
  const isRemoved = (): boolean => {
    if (!LIVE_FILES.some(isGone)) return false;
    if (!saved && database !== null && !database.isTransaction) {
      saved = true;
      clearInterval(timer);
      saveCommitted(database, path);
    }
    return true;
  };
  return {
    /** Remembers the files that are open now. Nothing is looked at before. Keeps `opened` from being garbage-collected. */
    start(opened: DatabaseSync): void {
      database = opened;
      files = liveFilesOf(path);
      stores.set(isRemoved, { path, database: opened });
      // An idle process looks too, because others wait until it has noticed.
      timer = setInterval(isRemoved, LOOK_MS).unref();
      lookAtBoth();
    },
    stop(): void {
      clearInterval(timer);
      stores.delete(isRemoved);
    },
    lookAtBoth,
    /** Looks at both files, but not with every read. */
    lookSometimes(): void {
      if (performance.now() - lookedAt > LOOK_MS) lookAtBoth();
    },
    /** Runs `work`, outside of a transaction. If it fails and the files were removed, saves what it can and throws that error. */
    around<T>(work: () => T): T {
      if (removed !== null) lookAtBoth();
      try {
        return work();
      } catch (error) {
        if (isRemoved() && !(error instanceof QueueError && error.code === 'store-files-removed'))
          lookAtBoth();
        throw error;
      }
    },
    /** Tells whether another file has the name of one that this connection has open. SQLite must not close it then. */
    isReplaced(): boolean {
      const fates = isRemoved() && files !== null ? Object.values(files).map(fateOf) : [];
      return fates.includes('replaced') || fates.includes('unknown');
    },
  };
}

export type FileWatch = ReturnType<typeof watchLiveFiles>;

/**
 * Copies what is committed from the removed -wal into the database, as long as it is safe. While no -wal has its name, nobody
 * has opened the database since: a process that opens it makes one, and cannot remove it before this process ends. An empty one
 * was made at this moment, and its maker removes it again (care/current-files.ts).
 */
function saveCommitted(database: DatabaseSync, path: string): void {
  for (let tries = 0; tries < SAVE_TRIES; tries++) {
    const wal = statSync(`${path}-wal`, IF_THERE);
    if (wal !== undefined && wal.size > 0) return;
    if (wal === undefined && checkpoint(database)) return;
    pauseSync(SAVE_PAUSE_MS);
  }
}

/** Tells whether all of the -wal is in the database now. */
function checkpoint(database: DatabaseSync): boolean {
  try {
    const row = database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() as Record<string, number>;
    return row.busy === 0 && row.log === row.checkpointed;
  } catch {
    // Another process with the same files is writing at this moment.
    return false;
  }
}

/** Tells what became of the file. Every write calls this, so it compares numbers instead of building texts. */
function fateOf({ name, stat: was }: Known): 'same' | 'removed' | 'replaced' | 'unknown' {
  try {
    const now = statSync(name, IF_THERE);
    if (now?.ino === was?.ino && now?.dev === was?.dev) return 'same';
    return now === undefined ? 'removed' : 'replaced';
  } catch {
    // The directory may not be read any more.
    return 'unknown';
  }
}

/**
 * Finds the files that this process has open for a database. On Linux the descriptors tell exactly. The names could lead to
 * files that another process made after these had been removed.
 */
function liveFilesOf(path: string): Record<LiveFile, Known> {
  const open = ownDescriptors();
  const one = (end: LiveFile): Known => {
    const name = path + end;
    // A removed file comes first: SQLite shares one -shm between all connections of a process.
    const descriptor = open.get(`${name} (deleted)`) ?? open.get(name);
    return { name, stat: statSync(descriptor ?? name, IF_THERE) };
  };
  return { '-wal': one('-wal'), '-shm': one('-shm') };
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

/** The open stores, by the function that tells whether their files were removed. A database stays here until it is closed. */
const stores = new Map<() => boolean, { path: string; database: DatabaseSync }>();

/** Tells whether this process has a store open whose -wal or -shm file was removed. */
export function hasRemovedFiles(): boolean {
  return [...stores.keys()].some((isRemoved) => isRemoved());
}

/** Tells whether this process has this store open. Then only SQLite may open its file. */
export function isOpenHere(path: string): boolean {
  return [...stores.values()].some((store) => store.path === path);
}

/**
 * Refuses to open a database again in a process that has it open with removed files. SQLite would use the old -shm for the new
 * connection, too.
 */
export function refuseAgain(path: string): void {
  for (const [isRemoved, store] of stores)
    if (store.path === path && isRemoved())
      throw new QueueError(
        'store-files-removed',
        `the -wal or -shm file of ${path} was removed while this process was using it`,
      );
}
