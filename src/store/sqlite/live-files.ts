import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { QueueError } from '../../core/errors.ts';

const LIVE_FILES = ['-wal', '-shm'] as const;
type LiveFile = (typeof LIVE_FILES)[number];

/** Reads look this often whether the files are still there. */
const LOOK_MS = 1000;

/** Tells which file a path leads to. It opens nothing: closing a descriptor would drop SQLite's locks. */
export function fileOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? 'none' : `${stat.dev}:${stat.ino}`;
}

export interface FileWatch {
  /** Remembers the files that are open now; until then nothing is looked at. Keeps `database` from being collected. */
  start(database: object): void;
  stop(): void;
  /** Throws if this file was removed. `more`: what else there is to say. */
  look(file: LiveFile, more?: string): void;
  lookAtBoth(): void;
  /** The same, but not with every read. */
  lookSometimes(): void;
  /** Runs `work`. If it fails and the files were removed, the error says so. */
  around<T>(work: () => T): T;
  /** One of the files was removed, and the database was not: SQLite must not close it. */
  isRemoved(): boolean;
}

/**
 * Notices that the -wal or -shm file of a connection was removed, at the cost of one look at each with every write. The -shm
 * comes before the commit, the -wal after it. Without the -shm, or without both, nothing is committed. Without the -wal
 * alone, the commit goes into a file that has no name, and is not acknowledged. Processes that come later do not use a -shm
 * without its -wal (actions/store-files.ts), so they do not see that commit.
 */
export function watchLiveFiles(path: string, isCurrent: () => boolean): FileWatch {
  let files: Record<LiveFile, string> | null = null;
  let removed: LiveFile | null = null;
  let lookedAt = 0;

  const isGone = (file: LiveFile): boolean => {
    // A database that was replaced as a whole is another matter: SQLite notices that when it is closed.
    if (removed === null && files !== null && isOther(path + file, files[file]) && isCurrent())
      removed = file;
    return removed !== null;
  };
  const look = (file: LiveFile, more = ''): void => {
    if (isGone(file))
      throw new QueueError(
        'store-files-removed',
        `${path}${removed} was removed while this process was using it${more}`,
      );
  };
  const lookAtBoth = (): void => {
    for (const file of LIVE_FILES) look(file);
    lookedAt = performance.now();
  };
  const isRemoved = (): boolean => LIVE_FILES.some(isGone);
  return {
    start(database) {
      files = liveFilesOf(path);
      stores.set(isRemoved, database);
      lookAtBoth();
    },
    stop: () => void stores.delete(isRemoved),
    look,
    lookAtBoth,
    lookSometimes() {
      if (removed !== null || performance.now() - lookedAt > LOOK_MS) lookAtBoth();
    },
    around(work) {
      try {
        return work();
      } catch (error) {
        lookAtBoth();
        throw error;
      }
    },
    isRemoved,
  };
}

/** Where that cannot be told, such as in a directory that may not be read any more, it is taken for the same. */
function isOther(path: string, file: string): boolean {
  try {
    return fileOf(path) !== file;
  } catch {
    return false;
  }
}

/**
 * Finds the files that this process has open for a database. The descriptors tell it exactly on Linux; a look at the names
 * could find files that another process made after these had been removed.
 */
function liveFilesOf(path: string): Record<LiveFile, string> {
  const open = ownDescriptors();
  const one = (end: LiveFile): string => {
    // A removed file comes first: SQLite shares one -shm between all connections of a process.
    const descriptor = open.get(`${path}${end} (deleted)`) ?? open.get(path + end);
    return fileOf(descriptor ?? path + end);
  };
  return { '-wal': one('-wal'), '-shm': one('-shm') };
}

function ownDescriptors(): Map<string, string> {
  const found = new Map<string, string>();
  try {
    for (const name of readdirSync('/proc/self/fd')) {
      const link = `/proc/self/fd/${name}`;
      try {
        found.set(readlinkSync(link), link);
      } catch {
        // The descriptor that listed the directory is closed by now.
      }
    }
  } catch {
    // This system does not list them.
  }
  return found;
}

/** The open stores: whether the files of one were removed, and what must not be collected until it is closed. */
const stores = new Map<() => boolean, object>();

/** Tells whether this process has a store open whose -wal or -shm file was removed. */
export function hasRemovedFiles(): boolean {
  return [...stores.keys()].some((isRemoved) => isRemoved());
}
