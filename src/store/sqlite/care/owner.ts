import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { QueueError } from '../../../core/errors.ts';
import { stateBeside } from '../../../state/state-directory.ts';
import { refuseNoFile } from './odd-file.ts';
import { foreign, type Unsafe, unsafeWay, writableByOthers } from './safe-path.ts';

const ROOT = 0;
/** The ends of the names by which SQLite finds the parts of a database, whoever put them there. */
export const BESIDE = ['-journal', '-wal', '-shm'];
const MOVE_AWAY = 'another user created this file. Move it elsewhere';

/**
 * Finds what is not safe about the store at this path. Jobs are commands: another user who can write one of its files, or put
 * one in its place, can run anything as this user. Files that do not exist yet are safe, and nothing is changed.
 */
export function unsafeParts(asked: string): Unsafe[] {
  const uid = process.getuid?.();
  if (uid === undefined) return [];
  const found: (Unsafe | null)[] = unsafeWay(asked, uid);
  const path = existsSync(asked) ? realpathSync(asked) : asked;
  const state = stateBeside(path);
  for (const one of [path, state.path, state.attempts]) found.push(unsafePlace(one, uid));
  for (const end of BESIDE) found.push(unsafePlace(path + end, uid, MOVE_AWAY));
  return found.filter((one) => one !== null);
}

/** Throws if the store is not safe to use, unless `anyOwner` allows that. */
export function refuseUnsafe(asked: string, anyOwner: boolean): void {
  if (anyOwner) return;
  const [unsafe] = unsafeParts(asked);
  if (unsafe === undefined) return;
  const { says, fix } = unsafe;
  throw new QueueError('not-permitted', says, fix.startsWith('chmod ') ? `to prevent this: ${fix}` : fix);
}

/** Throws if the store is not safe to use, or is no regular file. Is called before its files are replaced. */
export function checkOwner(path: string, anyOwner: boolean): void {
  refuseNoFile(path, statSync(path, { throwIfNoEntry: false }));
  refuseUnsafe(path, anyOwner);
}

/** Throws if another user could replace a file that SQLite is working on in a private directory made in this one. */
export function refuseUnsafeDrafts(directory: string, anyOwner: boolean): void {
  const uid = process.getuid?.();
  if (anyOwner || uid === undefined) return;
  // Any names will do: in a sticky directory others cannot move a private directory.
  const [unsafe] = unsafeWay(join(directory, 'draft', 'file'), uid);
  if (unsafe !== undefined)
    throw new QueueError(
      'not-permitted',
      unsafe.says,
      'back up into your own directory and copy the file there, or set QUEUECTL_ANY_OWNER=1',
    );
}

/** Checks a file, and the target if it is a link. A link of root may lead anywhere. */
function unsafePlace(path: string, uid: number, fix?: string): Unsafe | null {
  const link = lstatSync(path, { throwIfNoEntry: false });
  if (link === undefined) return null;
  const target = statSync(path, { throwIfNoEntry: false });
  if (link.uid !== uid && link.uid !== ROOT) return foreign(path, link, uid, fix);
  // The mode of a link itself tells nothing.
  if (target === undefined) return null;
  if (target.uid !== uid) return foreign(path, target, uid, fix);
  return (target.mode & 0o022) === 0 ? null : writableByOthers(path, target, uid);
}
