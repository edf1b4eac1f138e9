import { closeSync, linkSync, openSync, renameSync } from 'node:fs';

export interface NamingOptions {
  /** True to replace an existing file. If false, the first of several writers wins. */
  replace: boolean;
  /** True to throw on a file system without hard links, because there others could see the new file empty for a moment. */
  needsLinks?: boolean;
}

/** Links or moves a draft to `file`. Returns false if `file` exists and must not be replaced. */
export function nameDraft(draft: string, file: string, { replace, needsLinks }: NamingOptions): boolean {
  if (!replace) {
    try {
      // Unlike a rename, a link never replaces a file that another process has made in between.
      linkSync(draft, file);
      return true;
    } catch (error) {
      if (isTaken(error)) return false;
      if (needsLinks || !lacksHardLinks(error)) throw error;
      if (!reserveName(file)) return false;
    }
  }
  renameSync(draft, file);
  return true;
}

/** Creates an empty file, or returns false if it exists. The empty file stays if this process dies before the rename. */
function reserveName(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx', 0o600));
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
}

const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EEXIST';

const NO_LINKS_CODES = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Tells whether linking one of our own files failed because the file system, such as FAT, has no hard links. */
export function lacksHardLinks(error: unknown): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === 'link' && NO_LINKS_CODES.has(String(code));
}
