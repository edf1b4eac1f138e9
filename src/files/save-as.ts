import { accessSync, constants, lstatSync, statSync } from 'node:fs';
import { QueueError } from '../core/errors.ts';
import { nameDraft } from './write.ts';

/** A hint for errors. */
export const CHOOSE_ANOTHER_NAME = 'choose another name';

/** Throws unless files can be created in this directory. The error names the directory, because users do not know the names of drafts. */
export function refuseUnwritable(directory: string): void {
  try {
    if (!statSync(directory).isDirectory())
      throw new QueueError('no-such-file', `${directory} is not a directory`, CHOOSE_ANOTHER_NAME);
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof QueueError) throw error;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new QueueError(
        'no-such-file',
        `${directory} does not exist`,
        'create it first, or choose another directory',
      );
    throw new QueueError('not-permitted', `${directory} is not writable`, CHOOSE_ANOTHER_NAME);
  }
}

export function refuseExisting(path: string): void {
  if (isThere(path)) throw existsError(path);
}

const existsError = (path: string): QueueError => new QueueError('file-exists', `${path} already exists`);

/** Tells whether anything has this name, even a broken link. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Links or moves a draft to `target`. Throws if `target` exists, unless `replace` is true. */
export function putInPlace(draft: string, target: string, replace = false): void {
  try {
    if (nameDraft(draft, target, { replace })) return;
  } catch (error) {
    // In a directory such as /tmp, nobody can replace a file or a link of another user.
    if (!isThere(target) || (error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
    throw new QueueError(
      'not-permitted',
      `cannot replace ${target}: operation not permitted`,
      CHOOSE_ANOTHER_NAME,
    );
  }
  throw existsError(target);
}
