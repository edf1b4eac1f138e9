import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type ErrorCode, QueueError } from '../../core/errors.ts';
import { stateBeside } from '../../state/state-directory.ts';

/** SQLite's primary result codes that a user can meet, in the words of the error table. */
const BY_RESULT: Record<number, [ErrorCode, string]> = {
  5: ['store-busy', 'is locked by another process'],
  6: ['store-busy', 'is locked by another process'],
  8: ['not-permitted', 'is not writable'],
  10: ['store-unavailable', 'cannot be read or written: input/output error'],
  11: ['store-corrupt', 'is damaged'],
  13: ['disk-full', 'cannot grow: the disk is full'],
  14: ['store-unavailable', 'cannot be opened'],
  26: ['not-a-database', 'is not a queuectl database'],
};

const BY_ERRNO: Record<string, [ErrorCode, string]> = {
  EACCES: ['not-permitted', 'is not accessible: permission denied'],
  EPERM: ['not-permitted', 'is not accessible: operation not permitted'],
  EROFS: ['not-permitted', 'is not writable: read-only file system'],
  ENOSPC: ['disk-full', 'cannot be created: the disk is full'],
  EEXIST: ['store-unavailable', 'cannot be created: a part of its path is not a directory'],
  ENOENT: ['store-unavailable', 'cannot be opened: no such file'],
  ELOOP: ['store-unavailable', 'cannot be opened: its symbolic links form a loop'],
  ENOTDIR: ['store-unavailable', 'cannot be opened: a part of its path is not a directory'],
  ENAMETOOLONG: ['store-unavailable', 'cannot be opened: its path is too long'],
};

export const BUSY = 5;

export function isBusy(error: unknown): boolean {
  const result = primaryResult(error);
  return result === BUSY || result === 6;
}

const READONLY_DBMOVED = 1032;

/** Another file has taken the name of the one that is open; thrown as it was, or translated. */
export function isMoved(error: unknown): boolean {
  const { errcode, cause } = error as { errcode?: unknown; cause?: { errcode?: unknown } };
  return errcode === READONLY_DBMOVED || cause?.errcode === READONLY_DBMOVED;
}

const IOERR_SHORT_READ = 522;

/** A page that the -shm promises is not in the -wal: somebody removed that one, and SQLite has just made another. */
export function lacksWal(error: unknown): boolean {
  const { errcode, cause } = error as { errcode?: unknown; cause?: { errcode?: unknown } };
  return errcode === IOERR_SHORT_READ || cause?.errcode === IOERR_SHORT_READ;
}

/** SQLite's extended code holds the primary one in its low byte. */
function primaryResult(error: unknown): number | null {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : null;
}

export function isUniqueViolation(error: unknown): boolean {
  return (error as { errcode?: unknown } | null)?.errcode === 2067;
}

const WRONG_TYPE = 3091;
const CHECK_FAILED = 275;

/**
 * Tells whether a value in a row is larger than a number of JavaScript can be exactly, a sum of some does not fit into a
 * column, or a CHECK refuses what was computed from it.
 */
export function isOutOfRange(error: unknown): boolean {
  const { code, errcode, message } = error as { code?: unknown; errcode?: unknown; message?: unknown };
  const refused = errcode === WRONG_TYPE || errcode === CHECK_FAILED;
  return refused || code === 'ERR_OUT_OF_RANGE' || message === 'integer overflow';
}

/** The row itself is at fault: it breaks a rule of its table, or cannot be read. */
export function isBadRow(error: unknown): boolean {
  if (error instanceof QueueError) return error.code === 'store-corrupt' && error.cause === undefined;
  return isOutOfRange(error) || primaryResult(error) === CONSTRAINT;
}

const CONSTRAINT = 19;
const FULL = 13;
const IOERR_SHMSIZE = 4874;

/** The shared memory file that could not grow counts too: the disk is full, whatever SQLite calls it. */
export function isFull(error: unknown): boolean {
  return primaryResult(error) === FULL || (error as { errcode?: unknown } | null)?.errcode === IOERR_SHMSIZE;
}

const CANTOPEN = 14;

/** SQLite does not tell why it could not make a file. */
function isReadOnly(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS';
  }
}

/** Turns what SQLite or the file system threw into our own error, once, at the edge. */
export function translate(error: unknown, path: string): unknown {
  if (error instanceof QueueError) return error;
  const result = primaryResult(error);
  if (result === CANTOPEN && isReadOnly(dirname(path)))
    return translate(Object.assign(new Error('', { cause: error }), { code: 'EROFS' }), dirname(path));
  const errno = (error as { code?: unknown } | null)?.code;
  const found = isFull(error)
    ? BY_RESULT[FULL]
    : ((result === null ? undefined : BY_RESULT[result]) ?? BY_ERRNO[String(errno)]);
  if (found === undefined) return error;
  // With a state directory beside it, it was a store of ours.
  if (found[0] === 'not-a-database' && existsSync(stateBeside(path).attempts))
    return new QueueError('store-corrupt', `${path} is damaged: it is no longer a database`, undefined, {
      cause: error,
    });
  return new QueueError(found[0], `${path} ${found[1]}`, undefined, { cause: error });
}
