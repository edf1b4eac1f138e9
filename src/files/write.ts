import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { crashPoint, inSteps } from '../core/crash-point.ts';
import { QueueError } from '../core/errors.ts';
import { orNull } from '../core/text/language.ts';
import { processIdentity } from './process-identity.ts';
import { namesIn } from './read.ts';

const CHUNK_BYTES = 1024 * 1024;

/** Writes all of the data, with as many system calls as that takes. */
export function writeAll(file: number, data: Uint8Array | string): void {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

/** Copies the first `limit` bytes of an open file to a new, private file. */
export function copyBytes(from: number, to: string, limit: number): void {
  const out = openSync(to, 'wx', 0o600);
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
  /** The name of the crash points before and after the file is written, and before it gets its name. */
  point?: string;
  /** Is called after the draft is written and before it gets its name. */
  beforeNaming?(): void;
}

/** Writes a file that others see complete or not at all (but see `needsLinks`). Returns false if it exists and `replace` is false. */
export function writeAtomically(file: string, data: string | Uint8Array, options: AtomicOptions): boolean {
  const draft = options.draft ?? `${file}.${process.pid}.${randomBytes(6).toString('hex')}`;
  const pass = (when: string): void => {
    if (options.point !== undefined) crashPoint(`${when}-${options.point}`);
  };
  try {
    pass('before');
    const out = openSync(draft, 'wx', options.mode ?? 0o600);
    try {
      writeAll(out, data);
      if (options.sync) fsyncSync(out);
    } finally {
      closeSync(out);
    }
    pass('in');
    options.beforeNaming?.();
    const isNamed = nameDraft(draft, file, options);
    pass('after');
    return isNamed;
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

/** A file or directory that a process left behind. */
export interface Leftover {
  path: string;
  bytes: number;
}

/** A draft that has not changed for this long counts as abandoned, even if its maker runs on another machine. */
const STALE_MS = 24 * 3600 * 1000;
/** Matches the name of a draft directory and captures the scope and the pid of its maker. */
const DRAFT_NAME = /^\.queuectl-([0-9a-f]{8})-(\d+)-[0-9a-f]{12}\.draft([-.].*)?$/;
/** The name of the draft in its directory. */
const DRAFT_FILE = 'new';

/**
 * Returns a path for a file that will be moved to `target` once it is complete. The path is in a new directory beside the
 * target that only this user can enter, so that other users cannot put files beside the draft. The name of that directory
 * identifies the process that made it. Drafts that killed processes left beside the target are removed first.
 */
export function newDraft(target: string): string {
  const directory = dirname(target);
  sweepDrafts(directory);
  const name = `.queuectl-${pidScope()}-${process.pid}-${randomBytes(6).toString('hex')}.draft`;
  try {
    inSteps('draft', () => mkdirSync(join(directory, name), { mode: 0o700 }));
  } catch (error) {
    throw writeError(directory, error as NodeJS.ErrnoException);
  }
  return join(directory, name, DRAFT_FILE);
}

const REASONS: Record<string, string> = {
  EROFS: 'read-only file system',
  EACCES: 'permission denied',
  ENOSPC: 'the disk is full',
};

/** Returns an error that names the directory of the target, because users do not know the names of drafts. */
function writeError(directory: string, { code, message }: NodeJS.ErrnoException): QueueError {
  return new QueueError(
    code === 'ENOSPC' ? 'disk-full' : 'not-permitted',
    `cannot write to ${directory}: ${REASONS[String(code)] ?? message}`,
  );
}

/** Removes a draft with its directory. Ignores other paths. */
export function removeDraft(draft: string): void {
  if (DRAFT_NAME.test(basename(dirname(draft)))) removeDirectory(dirname(draft));
}

/** Returns where the draft is if `path` has the name of its directory. Returns [] otherwise. */
export function draftPaths(path: string): string[] {
  return DRAFT_NAME.test(basename(path)) ? [join(path, DRAFT_FILE)] : [];
}

/** Removes the abandoned drafts of this user from a directory. */
export function sweepDrafts(directory: string): void {
  for (const { path } of abandonedDirectories(directory)) removeDirectory(path);
}

/** Removes a directory of this user. Works through its descriptor on Linux, because other users may replace its name. Ignores errors. */
function removeDirectory(path: string): void {
  const opened = openOwnDirectory(path);
  if (opened === null) return;
  try {
    for (const name of namesIn(opened.accessPath))
      rmSync(join(opened.accessPath, name), { force: true, recursive: true });
    rmdirSync(path);
  } catch {
    // The file system is read-only, or files on a network file system are still open. The next cleanup tries again.
  } finally {
    closeSync(opened.file);
  }
}

/** Opens a directory that only this user can enter, without following a link. Returns null for anything else. */
function openOwnDirectory(path: string): { file: number; accessPath: string } | null {
  const file = orNull(() =>
    openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW),
  );
  if (file === null) return null;
  const { uid, mode } = fstatSync(file);
  if (uid === (process.getuid?.() ?? uid) && (mode & 0o077) === 0)
    return { file, accessPath: process.platform === 'linux' ? `/proc/self/fd/${file}` : path };
  closeSync(file);
  return null;
}

/** Returns the drafts that `sweepDrafts` would remove. */
export function abandonedDrafts(directory: string): Leftover[] {
  return abandonedDirectories(directory).map(({ path }) => ({ path, bytes: sizeOf(path) }));
}

/** Returns the sum of the sizes of the files in a directory. */
function sizeOf(directory: string): number {
  const size = (name: string): number =>
    lstatSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
  return namesIn(directory).reduce((sum, name) => sum + size(name), 0);
}

function abandonedDirectories(directory: string): Leftover[] {
  return leftoversIn(directory, DRAFT_NAME, isAbandoned, 'directory');
}

/** Tells whether the maker of a file is gone, or the file is stale. The match has its scope and pid. */
function isAbandoned([, scope, pid]: RegExpExecArray, changedAt: number): boolean {
  return (scope === pidScope() && isGone(Number(pid))) || Date.now() - changedAt > STALE_MS;
}

/** Returns files such as `out.123` whose maker, the process with that pid, is gone. `pattern` captures the pid. */
export function abandonedParts(directory: string, pattern: RegExp): Leftover[] {
  return leftoversIn(directory, pattern, ([, pid]) => isGone(Number(pid)));
}

function leftoversIn(
  directory: string,
  pattern: RegExp,
  isWanted: (match: RegExpExecArray, changedAt: number) => boolean,
  kind: 'file' | 'directory' = 'file',
): Leftover[] {
  const found: Leftover[] = [];
  for (const name of namesIn(directory)) {
    const match = pattern.exec(name);
    if (match === null) continue;
    const path = join(directory, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined || !(kind === 'file' ? stat.isFile() : stat.isDirectory())) continue;
    if (stat.uid === (process.getuid?.() ?? stat.uid) && isWanted(match, stat.mtimeMs))
      found.push({ path, bytes: stat.size });
  }
  return found;
}

/** Identifies this boot and pid namespace. A pid is meaningless outside them, and other machines may share the disk. */
function pidScope(): string {
  const where = `${processIdentity.bootId()} ${processIdentity.pidNamespace()}`;
  return createHash('sha256').update(where).digest('hex').slice(0, 8);
}

/** Returns false if it is unknown whether the process is gone. */
function isGone(pid: number): boolean {
  return pid !== process.pid && processIdentity.showsOwnPids() && processIdentity.startTime(pid) === null;
}
