import { closeSync, linkSync, openSync, renameSync } from 'node:fs';

export interface NamingOptions {
  /** Replace a file that is there. Otherwise the first of several writers wins. */
  replace: boolean;
  /** Throw on a file system without hard links, because there others can see the new file empty for a moment. */
  needsLinks?: boolean;
}

/** Gives a draft its name. Returns false if that is taken and not to be replaced. */
export function nameDraft(draft: string, file: string, { replace, needsLinks }: NamingOptions): boolean {
  if (!replace) {
    try {
      // Unlike a rename, a link never replaces a file that somebody has made in between.
      linkSync(draft, file);
      return true;
    } catch (error) {
      if (isTaken(error)) return false;
      if (needsLinks || !lacksHardLinks(error)) throw error;
      if (!reserve(file)) return false;
    }
  }
  renameSync(draft, file);
  return true;
}

/** Takes the name with an empty file, which only one process can do. It is left behind if this process dies then. */
function reserve(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx', 0o600));
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
}

const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EEXIST';

const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Tells whether linking one of our own files failed because the file system has no hard links, as FAT. */
export function lacksHardLinks(error: unknown): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === 'link' && NO_LINKS.has(String(code));
}
