import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { QueueError } from '../../../core/errors.ts';
import { pathWord } from '../../../core/text/shell-quote.ts';
import { pauseSync } from '../../../core/time/clock.ts';
import { stateBeside } from '../../../state/state-directory.ts';

const SMALLEST_DATABASE_BYTES = 512;

/**
 * Throws if SQLite must not open this file. SQLite would wait for a pipe, treat a file of one byte as an empty database, and
 * create a new queue in a database that was truncated to nothing. A new file (`isNew`) may be empty.
 */
export function refuseOddFile(path: string, isNew = false, stat = statSync(path)): void {
  refuseNonFile(path, stat);
  if (isNew || stat.size >= SMALLEST_DATABASE_BYTES) return;
  // An empty file is accepted if there was no store, or if another process is just writing it.
  if (stat.size === 0 && !(hasTracesOfStore(path) && !waitForGrowth(path))) return;
  throw hasTracesOfStore(path)
    ? new QueueError('store-corrupt', `${path} is damaged: the file is truncated`)
    : new QueueError('not-a-database', `${path} is not a queuectl database`);
}

/** Throws if there is something at this path other than a regular file or a link to one. */
export function refuseNonFile(path: string, stat: Stats | undefined): void {
  if (stat === undefined) refuseBrokenLink(path);
  if (stat === undefined || stat.isFile()) return;
  const what = stat.isDirectory() ? 'a directory' : stat.isFIFO() ? 'a pipe' : 'a device or socket';
  throw new QueueError('store-unavailable', `${path} is ${what}, not a database file`);
}

/** Throws if this is a broken link. Its target may be on a disk that is not mounted now, so no file is created there. */
function refuseBrokenLink(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  const target = resolve(dirname(path), readlinkSync(path));
  throw new QueueError(
    'store-unavailable',
    `${path} is a broken link: ${target} does not exist`,
    `restore that file, or use --db ${target}`,
  );
}

/** Throws if there is no store at this path, for commands that only check a store. Other commands create a store in an empty file. */
export function refuseNoStore(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw missingError(path);
  refuseOddFile(path);
  if (stat.size === 0)
    throw new QueueError(
      'not-a-database',
      `${path} is empty, not a queuectl database`,
      'to create a queue in this file: queuectl status',
    );
}

/** Returns the error for a database file that does not exist. */
export function missingError(path: string): QueueError {
  const wal = `${path}-wal`;
  if (sizeOf(wal) > 0)
    return new QueueError(
      'store-unavailable',
      `${path} is missing, although ${path}.d exists, and ${wal} holds changes that were not copied into it yet`,
      `move the database back, or restore a backup with queuectl restore FILE. To give up these changes: rm ${pathWord(wal)}`,
    );
  return hasTracesOfStore(path)
    ? new QueueError(
        'store-unavailable',
        `${path} is missing, although ${path}.d exists`,
        'restore a backup with queuectl restore FILE. Otherwise the next command creates a new, empty queue',
      )
    : new QueueError('store-unavailable', `${path} does not exist`);
}

/** Throws if the -wal of a database that was moved away is at this path. A new database would destroy the jobs in it. */
export function refuseLeftWal(path: string): void {
  // Another process may just have created the database.
  if (sizeOf(`${path}-wal`) > 0 && !existsSync(path)) throw missingError(path);
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Tells whether a state directory or a -wal shows that a store was at this path. */
export function hasTracesOfStore(path: string): boolean {
  return existsSync(stateBeside(path).attempts) || sizeOf(`${path}-wal`) > 0;
}

/** Waits until an empty file has grown, for at most half a second. Tells whether it has. */
function waitForGrowth(path: string): boolean {
  for (let i = 0; i < 25 && statSync(path).size === 0; i++) pauseSync(20);
  return statSync(path).size > 0;
}

/** Returns the first bytes of a file. Closing the file drops SQLite's locks, so this process must not have it open as a database. */
export function headOf(path: string, length: number): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const head = Buffer.alloc(length);
    return head.subarray(0, readSync(file, head, 0, length, 0));
  } finally {
    closeSync(file);
  }
}
