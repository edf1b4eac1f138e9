import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { QueueError } from '../../../core/errors.ts';
import { stateBeside } from '../../../state/state-directory.ts';
import { refuseNonFile } from './odd-file.ts';
import { foreign, type Unsafe, unsafePathParts, writableByOthers } from './safe-path.ts';

const ROOT = 0;
/** The suffixes by which SQLite finds the parts of a database, whoever created them. */
export const PART_SUFFIXES = ['-journal', '-wal', '-shm'];
const MOVE_AWAY = 'another user created this file. Move it elsewhere';

/**
 * Returns what is not safe about the store at this path. Jobs are commands, so another user who can write or replace one of its
 * files can run anything as this user. Files that do not exist yet are safe. Nothing is changed.
 */
export function unsafeParts(asked: string): Unsafe[] {
  const uid = process.getuid?.();
  if (uid === undefined) return [];
  const found: (Unsafe | null)[] = unsafePathParts(asked, uid);
  const path = existsSync(asked) ? realpathSync(asked) : asked;
  const state = stateBeside(path);
  for (const one of [path, state.path, state.attempts]) found.push(unsafeFile(one, uid));
  for (const end of PART_SUFFIXES) found.push(unsafeFile(path + end, uid, MOVE_AWAY));
  return found.filter((one) => one !== null);
}

/** Throws if the store is not safe to use, unless `anyOwner` allows that. */
export function refuseUnsafe(asked: string, anyOwner: boolean): void {
  if (anyOwner) return;
  const [unsafe] = unsafeParts(asked);
  if (unsafe === undefined) return;
  const { problem, fix } = unsafe;
  throw new QueueError('not-permitted', problem, fix.startsWith('chmod ') ? `to prevent this: ${fix}` : fix);
}

/** Throws if the store is not safe to use, or is not a regular file. Is called before files of the store are replaced. */
export function checkOwner(path: string, anyOwner: boolean): void {
  refuseNonFile(path, statSync(path, { throwIfNoEntry: false }));
  refuseUnsafe(path, anyOwner);
}

/** Throws if another user could replace a file in a private directory that is created in this directory. */
export function refuseUnsafeDrafts(directory: string, anyOwner: boolean): void {
  const uid = process.getuid?.();
  if (anyOwner || uid === undefined) return;
  // The names do not matter. In a sticky directory others cannot move a private directory.
  const [unsafe] = unsafePathParts(join(directory, 'draft', 'file'), uid);
  if (unsafe !== undefined)
    throw new QueueError(
      'not-permitted',
      unsafe.problem,
      'back up into your own directory and copy the file there, or set QUEUECTL_ANY_OWNER=1',
    );
}

/** Checks a file. If it is a link, it may also belong to root, but its target must be safe. */
function unsafeFile(path: string, uid: number, fix?: string): Unsafe | null {
  const link = lstatSync(path, { throwIfNoEntry: false });
  if (link === undefined) return null;
  const target = statSync(path, { throwIfNoEntry: false });
  if (link.uid !== uid && link.uid !== ROOT) return foreign(path, link, uid, fix);
  // A broken link has no target that could be unsafe.
  if (target === undefined) return null;
  if (target.uid !== uid) return foreign(path, target, uid, fix);
  return (target.mode & 0o022) === 0 ? null : writableByOthers(path, target, uid);
}
