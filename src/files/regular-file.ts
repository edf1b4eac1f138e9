import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs';
import { orNull } from '../core/or-null.ts';

const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Opens a regular file of this user, or of any user for root. Returns 'odd' for anything else, such as a link, and if it cannot be opened. */
export function openRegular(path: string, flags = constants.O_RDONLY): number | 'absent' | 'odd' {
  let file: number;
  try {
    file = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'absent' : 'odd';
  }
  const stat = fstatSync(file);
  const uid = process.getuid?.();
  if (stat.isFile() && (uid === undefined || uid === 0 || stat.uid === uid)) return file;
  closeSync(file);
  return 'odd';
}

/** Tells whether a path is a name of an open file. Returns false if that cannot be seen, for example in a locked directory. */
export function hasName(file: number, path: string): boolean {
  const named = orNull(() => lstatSync(path));
  const opened = fstatSync(file);
  return named?.ino === opened.ino && named.dev === opened.dev;
}
