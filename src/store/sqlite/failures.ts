import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type ErrorCode, QueueError } from '../../core/errors.ts';
import { orNull } from '../../core/text/language.ts';
import { stateBeside } from '../../state/state-directory.ts';

/* The tables are in functions, because making them takes a short command time that most never need. */
/** Returns the error codes and messages for those of SQLite's primary result codes that users can meet. */
const errorsByResult = (): Record<number, [ErrorCode, string]> => ({
  5: ['store-busy', 'is locked by another process'],
  6: ['store-busy', 'is locked by another process'],
  8: ['not-permitted', 'is not writable'],
  10: ['store-unavailable', 'cannot be read or written: input/output error'],
  11: ['store-corrupt', 'is damaged'],
  13: ['disk-full', 'cannot grow: the disk is full'],
  14: ['store-unavailable', 'cannot be opened'],
  26: ['not-a-database', 'is not a queuectl database'],
});

const DAMAGED_STORE: [ErrorCode, string] = ['store-corrupt', 'is damaged: it is no longer a database'];

const errorsByErrno = (): Record<string, [ErrorCode, string]> => ({
  EACCES: ['not-permitted', 'is not accessible: permission denied'],
  EPERM: ['not-permitted', 'is not accessible: operation not permitted'],
  EROFS: ['not-permitted', 'is not writable: read-only file system'],
  ENOSPC: ['disk-full', 'cannot be created: the disk is full'],
  EEXIST: ['store-unavailable', 'cannot be created: a part of its path is not a directory'],
  ENOENT: ['store-unavailable', 'cannot be opened: no such file'],
  ELOOP: ['store-unavailable', 'cannot be opened: its symbolic links form a loop'],
  ENOTDIR: ['store-unavailable', 'cannot be opened: a part of its path is not a directory'],
  ENAMETOOLONG: ['store-unavailable', 'cannot be opened: its path is too long'],
});

/** SQLite's primary result codes, and extended ones, which hold a primary one in their low byte. */
export const BUSY = 5;
const LOCKED = 6;
const FULL = 13;
const CANTOPEN = 14;
const CONSTRAINT = 19;
const CHECK_FAILED = 275;
const READONLY_DBMOVED = 1032;
const UNIQUE_VIOLATED = 2067;
const WRONG_TYPE = 3091;
const IOERR_SHMSIZE = 4874;

/** Returns SQLite's result code, or 0 for another error. */
const resultOf = (error: unknown): number => Number((error as { errcode?: unknown } | null)?.errcode ?? 0);
const primaryResult = (error: unknown): number => resultOf(error) & 0xff;
/** Tells whether the error or its cause has this result code. */
const hasResult = (error: unknown, code: number): boolean =>
  resultOf(error) === code || resultOf((error as Error).cause) === code;

export const isBusy = (error: unknown): boolean => [BUSY, LOCKED].includes(primaryResult(error));
/** Tells whether the path no longer leads to the open file. */
export const isMoved = (error: unknown): boolean => hasResult(error, READONLY_DBMOVED);
export const isUniqueViolation = (error: unknown): boolean => resultOf(error) === UNIQUE_VIOLATED;
/** Tells whether a constraint of a table refuses the row. */
export const isConstraintViolation = (error: unknown): boolean => primaryResult(error) === CONSTRAINT;

/** Tells whether a number in a row is too large for JavaScript, a sum overflows, or a CHECK or a column type refuses a value. */
export function isOutOfRange(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  const refused = [WRONG_TYPE, CHECK_FAILED].includes(resultOf(error));
  return refused || code === 'ERR_OUT_OF_RANGE' || message === 'integer overflow';
}

/** Tells whether the row itself is the cause: it violates a constraint of its table, or cannot be read. */
export function isBadRow(error: unknown): boolean {
  if (error instanceof QueueError) return error.code === 'store-corrupt' && error.cause === undefined;
  return isOutOfRange(error) || isConstraintViolation(error);
}

/** Tells whether the disk is full, or the -shm file could not grow. */
export function isFull(error: unknown): boolean {
  return primaryResult(error) === FULL || resultOf(error) === IOERR_SHMSIZE;
}

/** Tells whether the file system is read-only. SQLite does not report this when it cannot create a file. */
function isReadOnly(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS';
  }
}

/** Tells whether the file system has no free inode, so that no file can be created. SQLite does not report this either. */
function hasNoInode(directory: string): boolean {
  const found = orNull(() => statfsSync(directory));
  // Some file systems do not count inodes.
  return found !== null && found.files > 0 && found.ffree === 0;
}

/** Turns a known error of SQLite or of the file system into a QueueError. Returns other errors as they are. */
export function translateError(error: unknown, path: string): unknown {
  if (error instanceof QueueError) return error;
  // Without a cause, `isBadRow` recognizes the error.
  if (isOutOfRange(error)) return new QueueError('store-corrupt', `${path} has a value that is out of range`);
  const result = primaryResult(error);
  if (result === CANTOPEN && isReadOnly(dirname(path)))
    return translateError(Object.assign(new Error('', { cause: error }), { code: 'EROFS' }), dirname(path));
  if (result === CANTOPEN && hasNoInode(dirname(path)))
    return new QueueError(
      'disk-full',
      `${path} cannot be opened: the disk is full (it has no free inodes)`,
      'delete some files, then run the command again',
      { cause: error },
    );
  const errno = (error as NodeJS.ErrnoException | null)?.code;
  const found = isFull(error)
    ? errorsByResult()[FULL]
    : (errorsByResult()[result] ?? errorsByErrno()[String(errno)]);
  if (found === undefined) return error;
  // A file with a state directory beside it was a store.
  const wasStore = found[0] === 'not-a-database' && existsSync(stateBeside(path).attempts);
  const [code, what] = wasStore ? DAMAGED_STORE : found;
  return new QueueError(code, `${path} ${what}`, undefined, { cause: error });
}
