import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { removeDraft } from './drafts.ts';

const CHUNK_BYTES = 1024 * 1024;

/** Writes all of the data, with as many system calls as that takes. */
export function writeAll(file: number, data: Uint8Array | string): void {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

/** Copies the first `limit` bytes of an open file to a path. A new file is private. With the flag `wx`, the path must be free. */
export function copyBytes(from: number, to: string, flag: 'w' | 'wx' = 'w', limit = Infinity): void {
  const out = openSync(to, flag, 0o600);
  try {
    const buffer = Buffer.alloc(CHUNK_BYTES);
    for (let at = 0; ; ) {
      const read = readSync(from, buffer, 0, Math.min(CHUNK_BYTES, limit - at), at);
      if (read === 0) return;
      writeAll(out, buffer.subarray(0, read));
      at += read;
    }
  } finally {
    closeSync(out);
  }
}

export interface AtomicOptions extends NamingOptions {
  /** The path to which the data is written first. The default is a random name beside the file. */
  draft?: string;
  /** The permissions of the file. The default is 0o600. */
  mode?: number;
  /** True to sync the data to disk before the file gets its name. */
  sync: boolean;
  /** Is called after the draft is written and before it gets its name. */
  beforeNaming?(): void;
}

/** Writes a file that others see complete or not at all (but see `needsLinks`). Returns false if it exists and `replace` is false. */
export function writeAtomically(file: string, data: string | Uint8Array, options: AtomicOptions): boolean {
  const draft = options.draft ?? `${file}.${process.pid}.${randomBytes(6).toString('hex')}`;
  try {
    const out = openSync(draft, 'wx', options.mode ?? 0o600);
    try {
      writeAll(out, data);
      if (options.sync) fsyncSync(out);
    } finally {
      closeSync(out);
    }
    options.beforeNaming?.();
    return nameDraft(draft, file, options);
  } finally {
    rmSync(draft, { force: true });
    removeDraft(draft);
  }
}

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
