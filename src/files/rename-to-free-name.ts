import { lstatSync } from 'node:fs';
import { orNull } from '../core/or-null.ts';
import { cLibrary } from './c-library.ts';

const AT_FDCWD = -100;
const RENAME_NOREPLACE = 1;

/**
 * Renames a file if the new name is free. Unlike a link, this also renames it for those who have it open. Returns 'taken' if the
 * name exists, and 'failed' if the file cannot be renamed, or the system cannot do this.
 */
export function renameToFreeName(from: string, to: string): 'renamed' | 'taken' | 'failed' {
  const result = cLibrary()?.renameat2(AT_FDCWD, asPath(from), AT_FDCWD, asPath(to), RENAME_NOREPLACE);
  if (result === 0) return 'renamed';
  return orNull(() => lstatSync(to, { throwIfNoEntry: false })) ? 'taken' : 'failed';
}

const asPath = (path: string): Uint8Array => Buffer.from(`${path}\0`);
