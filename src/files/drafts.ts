import { createHash, randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import { QueueError } from '../core/errors.ts';
import { orNull } from '../core/or-null.ts';
import { namesIn } from './names-in.ts';
import { processIdentity } from './process-identity.ts';

export interface Leftover {
  path: string;
  bytes: number;
}

/** A draft that has not changed for this long is abandoned, wherever its maker ran. */
const STALE_MS = 24 * 3600 * 1000;
const NAME = /^\.queuectl-([0-9a-f]{8})-(\d+)-[0-9a-f]{12}\.draft([-.].*)?$/;

const FILE = 'new';

/**
 * Returns a path for a file that is to be moved to its target as a whole. It is in a new directory beside the target that nobody
 * else can enter: other users could put files beside it otherwise. The name of the directory tells whose it is, and those that
 * killed processes left there are removed first.
 */
export function newDraft(target: string): string {
  const directory = dirname(target);
  removeDrafts(directory);
  const name = `.queuectl-${here()}-${process.pid}-${randomBytes(6).toString('hex')}.draft`;
  try {
    crashPoint('before-draft');
    mkdirSync(join(directory, name), { mode: 0o700 });
    crashPoint('after-draft');
  } catch (error) {
    throw refusedIn(directory, error as NodeJS.ErrnoException);
  }
  return join(directory, name, FILE);
}

const REASONS: Record<string, string> = {
  EROFS: 'read-only file system',
  EACCES: 'permission denied',
  ENOSPC: 'the disk is full',
};

/** Returns an error that names the directory, because nobody knows a draft by its name. */
function refusedIn(directory: string, { code, message }: NodeJS.ErrnoException): QueueError {
  return new QueueError(
    code === 'ENOSPC' ? 'disk-full' : 'not-permitted',
    `cannot write to ${directory}: ${REASONS[String(code)] ?? message}`,
  );
}

export function removeDraft(draft: string): void {
  if (NAME.test(basename(dirname(draft)))) removeDirectory(dirname(draft));
}

/** Returns the files that a draft of this name may be. Older versions made no directory for it. */
export function draftsNamed(path: string): string[] {
  return NAME.test(basename(path)) ? [path, join(path, FILE)] : [];
}

export function removeDrafts(directory: string): void {
  for (const { path } of abandonedBy(directory, NAME)) rmSync(path, { force: true });
  for (const { path } of abandonedDirectories(directory)) removeDirectory(path);
}

/** Removes a directory of ours through its descriptor, because others may replace the name in a shared directory. */
function removeDirectory(path: string): void {
  const opened = openOwnDirectory(path);
  if (opened === null) return;
  try {
    for (const name of namesIn(opened.through))
      rmSync(join(opened.through, name), { force: true, recursive: true });
    rmdirSync(path);
  } catch {
    // A read-only file system, or files of a network file system that are still open: the next sweep tries again.
  } finally {
    closeSync(opened.file);
  }
}

/** Opens a directory that only this user can enter, without following a link. Returns null if it is no such directory. */
function openOwnDirectory(path: string): { file: number; through: string } | null {
  const file = orNull(() =>
    openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW),
  );
  if (file === null) return null;
  const { uid, mode } = fstatSync(file);
  if (uid === (process.getuid?.() ?? uid) && (mode & 0o077) === 0)
    return { file, through: process.platform === 'linux' ? `/proc/self/fd/${file}` : path };
  closeSync(file);
  return null;
}

export function abandonedDrafts(directory: string): Leftover[] {
  const directories = abandonedDirectories(directory).map(({ path }) => ({ path, bytes: sizeOf(path) }));
  return [...abandonedBy(directory, NAME), ...directories];
}

/** Returns the sum of the sizes of the files in a directory. */
export function sizeOf(directory: string): number {
  const stats = namesIn(directory).map((name) => lstatSync(join(directory, name), { throwIfNoEntry: false }));
  return stats.reduce((sum, stat) => sum + (stat?.size ?? 0), 0);
}

function abandonedDirectories(directory: string): Leftover[] {
  return leftoversIn(directory, isAbandoned(NAME), 'directory');
}

/** Returns the files of this user whose maker is gone. `names` matches their names and captures the host and pid of the maker. */
export function abandonedBy(directory: string, names: RegExp): Leftover[] {
  return leftoversIn(directory, isAbandoned(names));
}

function isAbandoned(names: RegExp): (name: string, changedAt: number) => boolean {
  return (name, changedAt) => {
    const [, host, pid] = names.exec(name) ?? [];
    if (host === undefined) return false;
    return (host === here() && isGone(Number(pid))) || Date.now() - changedAt > STALE_MS;
  };
}

/** Returns files such as `out.123` whose maker, the process with that pid, is gone. `names` captures the pid. */
export function abandonedParts(directory: string, names: RegExp): Leftover[] {
  return leftoversIn(directory, (name) => {
    const pid = names.exec(name)?.[1];
    return pid !== undefined && isGone(Number(pid));
  });
}

function leftoversIn(
  directory: string,
  wanted: (name: string, changedAt: number) => boolean,
  kind: 'file' | 'directory' = 'file',
): Leftover[] {
  const found: Leftover[] = [];
  for (const name of namesIn(directory)) {
    const path = join(directory, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined || !(kind === 'file' ? stat.isFile() : stat.isDirectory())) continue;
    if (stat.uid === (process.getuid?.() ?? stat.uid) && wanted(name, stat.mtimeMs))
      found.push({ path, bytes: stat.size });
  }
  return found;
}

/** Identifies this boot and pid namespace, because a pid means nothing elsewhere and a disk may be shared. */
export function here(): string {
  const where = `${processIdentity.bootId()} ${processIdentity.pidNamespace()}`;
  return createHash('sha256').update(where).digest('hex').slice(0, 8);
}

function isGone(pid: number): boolean {
  return pid !== process.pid && processIdentity.showsOwnPids() && processIdentity.startTime(pid) === null;
}
