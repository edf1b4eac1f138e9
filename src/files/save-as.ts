import { accessSync, constants, lstatSync, statSync } from 'node:fs';
import { QueueError } from '../core/errors.ts';
import { nameDraft } from './name-draft.ts';

export const OTHER_NAME = 'choose another name';

/** Throws unless files can be made in this directory. The error names it, because nobody knows a draft by its name. */
export function refuseUnwritable(directory: string): void {
  try {
    if (!statSync(directory).isDirectory())
      throw new QueueError('no-such-file', `${directory} is not a directory`, OTHER_NAME);
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
    throw new QueueError('not-permitted', `${directory} is not writable`, OTHER_NAME);
  }
}

export function refuseExisting(path: string): void {
  if (isThere(path)) throw exists(path);
}

const exists = (path: string): QueueError => new QueueError('file-exists', `${path} already exists`);

/** Tells whether anything has this name, even a link that leads nowhere. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Gives a draft its name. Throws if that is taken, unless the file is to be replaced. */
export function putInPlace(draft: string, target: string, replace = false): void {
  if (!nameDraft(draft, target, { replace })) throw exists(target);
}
