import {
  accessSync,
  closeSync,
  constants,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  statSync,
} from 'node:fs';
import { QueueError } from '../core/errors.ts';
import { lacksHardLinks } from './hard-links.ts';

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

/** Gives the draft its name. A link never replaces a file that somebody has made in between. */
export function putInPlace(draft: string, target: string): void {
  try {
    linkSync(draft, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw exists(target);
    if (!lacksHardLinks(error)) throw error;
    reserve(target);
    renameSync(draft, target);
  }
}

/** Takes the name with an empty file, which only one process can do. It is left behind if this process dies then. */
function reserve(target: string): void {
  try {
    closeSync(openSync(target, 'wx', 0o600));
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? exists(target) : error;
  }
}
