import { closeSync, constants, fstatSync, mkdtempSync, openSync, rmSync, type Stats } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { pauseSync } from '../../../core/clock.ts';
import { QueueError } from '../../../core/errors.ts';
import { copyBytes } from '../../../files/write-all.ts';
import { ownerProblem } from './safe-path.ts';

const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const ROOT_UID = 0;
const COPY_TRIES = 10;
const RETRY_PAUSE_MS = 50;

/**
 * Opens a private copy of a database, to read from it. SQLite finds the parts of a database by name, so it must not open one where
 * other users can put a -wal or a -journal beside it. The copy is made in `copyDirectory` and is unlinked when this
 * returns. A -journal is never copied, because SQLite removes files that a journal names.
 */
export function openPrivateCopy(path: string, copyDirectory = tmpdir()): DatabaseSync {
  const directory = mkdtempSync(join(copyDirectory, 'queuectl-copy-'));
  try {
    const copy = join(directory, 'copy.db');
    const hasWal = copyWithWal(path, copy);
    if (hasWal) mergeWal(copy);
    return openSingleFile(copy);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Opens a database that is complete in one file. SQLite does not look for other files beside it. */
export function openSingleFile(path: string): DatabaseSync {
  const url = pathToFileURL(path);
  url.search = '?immutable=1';
  return new DatabaseSync(url, { readOnly: true });
}

function mergeWal(copy: string): void {
  const db = new DatabaseSync(copy);
  try {
    db.exec('PRAGMA journal_mode = DELETE');
  } finally {
    db.close();
  }
}

/** Copies the database and its -wal as of one moment. Returns whether a -wal was copied. */
function copyWithWal(path: string, copy: string): boolean {
  for (let tries = 1; ; tries++) {
    const db = openPart(path)!;
    const wal = openPart(`${path}-wal`);
    try {
      const files = wal === null ? [db] : [db, wal];
      if (wal !== null) refuseForeign(`${path}-wal`, fstatSync(wal), fstatSync(db));
      const stamps = files.map(stampOf).join();
      // SQLite treats an empty database as a new one, and would remove its -wal.
      const hasWal = wal !== null && fstatSync(wal).size > 0 && fstatSync(db).size > 0;
      copyBytes(db, copy);
      if (hasWal) copyBytes(wal, `${copy}-wal`);
      if (files.map(stampOf).join() === stamps) return hasWal;
    } finally {
      closeSync(db);
      if (wal !== null) closeSync(wal);
    }
    if (tries === COPY_TRIES)
      throw new QueueError('store-busy', `${path} is being written by another process`);
    pauseSync(RETRY_PAUSE_MS);
  }
}

/** Opens a regular file. Returns null if it is a -wal that does not exist. */
function openPart(path: string): number | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && path.endsWith('-wal')) return null;
    throw error;
  }
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new QueueError('store-unavailable', `${path} is not a regular file`);
}

/** Throws unless the -wal belongs to the owner of the database, to this user or to root. */
function refuseForeign(path: string, wal: Stats, db: Stats): void {
  const uid = process.getuid?.() ?? wal.uid;
  if ([db.uid, uid, ROOT_UID].includes(wal.uid)) return;
  const { problem, fix } = ownerProblem(path, wal, uid, 'another user created this file. Move it elsewhere');
  throw new QueueError('not-permitted', problem, fix);
}

function stampOf(file: number): string {
  const { size, mtimeNs, ctimeNs } = fstatSync(file, { bigint: true });
  return `${size} ${mtimeNs} ${ctimeNs}`;
}
