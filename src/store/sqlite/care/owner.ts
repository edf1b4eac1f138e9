import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { QueueError } from '../../../core/errors.ts';
import { stateBeside } from '../../../state/state-directory.ts';
import { refuseNonFile } from './odd-file.ts';
import { ownerProblem, pathProblems, type SafetyProblem, writableProblem } from './safe-path.ts';

const ROOT_UID = 0;
/** The suffixes by which SQLite finds the parts of a database, whoever created them. */
export const PART_SUFFIXES = ['-journal', '-wal', '-shm'];
const MOVE_AWAY = 'another user created this file. Move it elsewhere';

/**
 * Returns what is not safe about the store at this path. Jobs are commands, so another user who can write or replace one of its
 * files can run anything as this user. Files that do not exist yet are safe. Nothing is changed. `path` is the given path without
 * links.
 */
export function safetyProblems(givenPath: string, path = realPath(givenPath)): SafetyProblem[] {
  const uid = process.getuid?.();
  if (uid === undefined) return [];
  const found = pathProblems(givenPath, uid);
  const state = stateBeside(path);
  for (const one of [path, state.path, state.attempts]) {
    const unsafe = fileProblem(one, uid);
    if (unsafe !== null) found.push(unsafe);
  }
  for (const end of PART_SUFFIXES) {
    const unsafe = fileProblem(path + end, uid, MOVE_AWAY);
    if (unsafe !== null) found.push(unsafe);
  }
  return found;
}

/** Returns a path without links, or the path itself if there is nothing. */
function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** Throws if the store is not safe to use, unless `anyOwner` allows that. `path` is the given path without links. */
export function refuseUnsafe(givenPath: string, anyOwner: boolean, path?: string): void {
  if (anyOwner) return;
  const [unsafe] = safetyProblems(givenPath, path);
  if (unsafe === undefined) return;
  const { problem, fix } = unsafe;
  throw new QueueError('not-permitted', problem, fix.startsWith('chmod ') ? `to prevent this: ${fix}` : fix);
}

/** Throws if there is something other than a regular file at the path, or if the store is not safe to use. */
export function checkSafety(path: string, anyOwner: boolean): void {
  refuseNonFile(path, statSync(path, { throwIfNoEntry: false }));
  refuseUnsafe(path, anyOwner);
}

/** Throws if another user could replace a file in a private directory that is created in this directory. */
export function refuseUnsafeDrafts(directory: string, anyOwner: boolean): void {
  const uid = process.getuid?.();
  if (anyOwner || uid === undefined) return;
  // The names do not matter. In a sticky directory others cannot move a private directory.
  const [unsafe] = pathProblems(join(directory, 'draft', 'file'), uid);
  if (unsafe !== undefined)
    throw new QueueError(
      'not-permitted',
      unsafe.problem,
      'back up into your own directory and copy the file there, or set QUEUECTL_ANY_OWNER=1',
    );
}

/** Returns what is not safe about a file, or null. If it is a link, it may also belong to root, but its target must be safe. */
function fileProblem(path: string, uid: number, fix?: string): SafetyProblem | null {
  const link = lstatSync(path, { throwIfNoEntry: false });
  if (link === undefined) return null;
  const target = link.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : link;
  if (link.uid !== uid && link.uid !== ROOT_UID) return ownerProblem(path, link, uid, fix);
  // A broken link has no target that could be unsafe.
  if (target === undefined) return null;
  if (target.uid !== uid) return ownerProblem(path, target, uid, fix);
  return (target.mode & 0o022) === 0 ? null : writableProblem(path, target, uid);
}
