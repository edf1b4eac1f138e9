import { existsSync, lstatSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { QueueError } from '../core/errors.ts';
import { shellWord } from '../core/text/shell-quote.ts';

const ROOT_UID = 0;
const STICKY = 0o1000;
const OTHERS_WRITE = 0o022;
const NO_THROW = { throwIfNoEntry: false } as const;

/** Something through which another user could change files of this user. */
export interface SafetyProblem {
  problem: string;
  fix: string;
}

/**
 * Returns everything through which another user could change these files, or put files into these directories. A directory must
 * belong to this user or to root, a file must be a regular one of this user, and nobody else may write to either. A link to a directory
 * counts as that directory, and must itself belong to this user or to root, because its owner can change where it leads. What does
 * not exist is safe. An ACL that lets others write shows in the mode, as a right of the group.
 * `fix` says what to do about what another user made. It should not name QUEUECTL_ANY_OWNER if that user may want just that.
 */
export function ownershipProblems(directories: string[], files: string[], fix?: string): SafetyProblem[] {
  const uid = process.getuid?.();
  if (uid === undefined) return [];
  const found: SafetyProblem[] = [];
  for (const path of directories) {
    const named = lstatSync(path, NO_THROW);
    const stat = named?.isSymbolicLink() ? statSync(path, NO_THROW) : named;
    if (named === undefined || stat === undefined) continue;
    const foreign = isForeign(named, uid) ? named : stat;
    if (isForeign(foreign, uid)) found.push(ownerProblem(path, foreign, uid, fix));
    else if (canOthersWrite(stat)) found.push(writableProblem(path, stat, uid, fix));
  }
  for (const path of files) {
    const stat = lstatSync(path, NO_THROW);
    if (stat === undefined) continue;
    if (!stat.isFile())
      found.push({ problem: `${path} is not a regular file`, fix: fix ?? `remove ${path}` });
    else if (stat.uid !== uid) found.push(ownerProblem(path, stat, uid, fix));
    else if (canOthersWrite(stat)) found.push(writableProblem(path, stat, uid, fix));
  }
  return found;
}

/** Returns the directory, or else the nearest one above it that exists. */
export function nearestDirectory(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestDirectory(dirname(path));
}

/**
 * Returns the same as `ownershipProblems` for a directory in which this user creates a private directory, and for the nearest one above
 * if it does not exist. In a sticky directory such as /tmp, others cannot move a private directory.
 */
export function parentProblems(path: string): SafetyProblem[] {
  const directory = nearestDirectory(path);
  const stat = statSync(directory, NO_THROW);
  const isSticky =
    stat !== undefined && (stat.mode & STICKY) !== 0 && [ROOT_UID, process.getuid?.()].includes(stat.uid);
  return isSticky ? [] : ownershipProblems([directory], []);
}

/** Throws the first problem, unless there is none. */
export function refuseProblems([unsafe]: readonly SafetyProblem[]): void {
  if (unsafe === undefined) return;
  const { problem, fix } = unsafe;
  throw new QueueError('not-permitted', problem, fix.startsWith('chmod ') ? `to prevent this: ${fix}` : fix);
}

/** Returns the permissions of a file as `chmod` takes them. */
export const modeOf = ({ mode }: Stats): string => (mode & 0o7777).toString(8).padStart(4, '0');

const isForeign = (stat: Stats, uid: number): boolean => stat.uid !== uid && stat.uid !== ROOT_UID;

const canOthersWrite = ({ mode }: Stats): boolean => (mode & OTHERS_WRITE) !== 0;

function ownerProblem(path: string, { uid: owner }: Stats, uid: number, fix?: string): SafetyProblem {
  return {
    problem: `${path} belongs to user ${owner}, but queuectl is running as user ${uid}`,
    fix: fix ?? `run queuectl as its owner (sudo -u '#${owner}' queuectl …), or set QUEUECTL_ANY_OWNER=1`,
  };
}

function writableProblem(path: string, stat: Stats, uid: number, fix?: string): SafetyProblem {
  const problem = `other users can write to ${path} (mode ${modeOf(stat)})`;
  // A shared directory such as /tmp has to stay as it is.
  const canChange = (stat.mode & STICKY) === 0 && (stat.uid === uid || uid === ROOT_UID);
  if (canChange) return { problem, fix: `chmod go-w ${shellWord(path)}` };
  return {
    problem,
    fix: fix ?? 'use a directory that only you can write, for example queuectl --db ~/.queuectl/queue.db …',
  };
}
