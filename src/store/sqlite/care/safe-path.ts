import { lstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { shellQuote } from '../../../core/shell-quote.ts';

export interface SafetyProblem {
  problem: string;
  fix: string;
}

const ROOT_UID = 0;
const STICKY = 0o1000;
const MOST_LINKS = 40;

/**
 * Returns everything on the path of a file through which another user could replace the file, or put files beside it. Every
 * directory and link on the path must belong to this user or to root, and nobody else may write to a directory. The path may
 * lead through a sticky directory such as /tmp, in which others cannot move the files of this user, but must not end in it.
 */
export function pathProblems(givenPath: string, uid: number): SafetyProblem[] {
  const found = new Map<string, SafetyProblem>();
  const addProblem = (path: string, unsafe: SafetyProblem): void => {
    if (!found.has(path)) found.set(path, unsafe);
  };
  let directory = '/';
  let parent = lstatSync(directory);
  let rest = namesOf(givenPath);
  const moveTo = (path: string, stat = lstatSync(path)): void => {
    directory = path;
    parent = stat;
  };
  for (let links = 0; rest.length > 0; ) {
    const name = rest.shift()!;
    if (name === '..') {
      moveTo(dirname(directory));
      continue;
    }
    const path = join(directory, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    const isLink = stat?.isSymbolicLink() ?? false;
    const unsafe = directoryProblem(directory, parent, uid);
    if (unsafe !== null) addProblem(directory, unsafe);
    if (stat !== undefined && (isLink || isSticky(parent)) && !isTrusted(stat.uid, uid))
      addProblem(path, ownerProblem(path, stat, uid));
    else if (rest.length === 0 && !isLink && isSticky(parent) && canOthersWrite(parent, uid))
      addProblem(directory, sharedDirectoryProblem(path, parent, uid));
    if (stat === undefined) break;
    if (!isLink) moveTo(path, stat);
    else {
      // The kernel refuses a path with more links, too.
      if (++links > MOST_LINKS) break;
      const target = readlinkSync(path);
      if (target.startsWith('/')) moveTo('/');
      rest = [...namesOf(target), ...rest];
    }
  }
  // Spreading an empty map takes as long as looking at the path.
  return found.size === 0 ? [] : [...found.values()];
}

function namesOf(path: string): string[] {
  const names: string[] = [];
  for (const name of path.split('/')) if (name !== '' && name !== '.') names.push(name);
  return names;
}

function directoryProblem(path: string, stat: Stats, uid: number): SafetyProblem | null {
  if (!isTrusted(stat.uid, uid)) return ownerProblem(path, stat, uid);
  return canOthersWrite(stat, uid) && !isSticky(stat) ? writableProblem(path, stat, uid) : null;
}

function isSticky(stat: Stats): boolean {
  return (stat.mode & STICKY) !== 0;
}

function canOthersWrite(stat: Stats, uid: number): boolean {
  if ((stat.mode & 0o022) === 0) return false;
  return (stat.mode & 0o002) !== 0 || !isPrivateGroup(stat.gid, uid);
}

/** Trusts this user and root. In a user namespace, the machine's root has the user id of all unmapped users. */
function isTrusted(owner: number, uid: number): boolean {
  return owner === uid || owner === ROOT_UID || isUnmapped(owner);
}

function isUnmapped(owner: number): boolean {
  try {
    if (Number(readFileSync('/proc/sys/kernel/overflowuid', 'latin1')) !== owner) return false;
    const ranges = fieldsOf('/proc/self/uid_map', /\s+/).map((fields) => fields.map(Number));
    return !ranges.some(([first = 0, , count = 0]) => owner >= first && owner < first + count);
  } catch {
    return false;
  }
}

/**
 * Many systems give each user a private group with write access. A group counts as private if it is the group of this process
 * and /etc/passwd and /etc/group list only this user and root in it. The group of a user who is not listed there does not count,
 * because other users who are not listed may share it.
 */
function isPrivateGroup(gid: number, uid: number): boolean {
  if (process.platform !== 'linux' || process.getgid?.() !== gid) return false;
  try {
    const users = fieldsOf('/etc/passwd', ':').map(([name, , id, group]) => ({ name, id, group }));
    const isOwn = ({ id }: { id: string | undefined }): boolean =>
      id === String(uid) || id === String(ROOT_UID);
    const ownNames = new Set(users.filter(isOwn).map((user) => user.name));
    const group = fieldsOf('/etc/group', ':').filter((fields) => fields[2] === String(gid));
    const members = group.flatMap((fields) => (fields[3] ?? '').split(',').filter((name) => name !== ''));
    return (
      users.some((user) => user.id === String(uid)) &&
      users.every((user) => user.group !== String(gid) || isOwn(user)) &&
      group.length > 0 &&
      members.every((name) => ownNames.has(name))
    );
  } catch {
    return false;
  }
}

function fieldsOf(file: string, separator: string | RegExp): string[][] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => line.trim().split(separator));
}

export function ownerProblem(path: string, { uid: owner }: Stats, uid: number, fix?: string): SafetyProblem {
  return {
    problem: `${path} belongs to user ${owner}, but queuectl is running as user ${uid}`,
    fix: fix ?? `run queuectl as its owner (sudo -u '#${owner}' queuectl …), or set QUEUECTL_ANY_OWNER=1`,
  };
}

export function writableProblem(path: string, stat: Stats, uid: number): SafetyProblem {
  const problem = `other users can write to ${path} (mode ${modeOf(stat)})`;
  if (stat.uid === uid || uid === ROOT_UID) return { problem, fix: `chmod go-w ${shellWord(path)}` };
  return { problem, fix: 'use your own directory, for example queuectl --db ~/queue.db …' };
}

/** Reports that others can put a -wal or a -journal beside the file, which SQLite would read. They cannot replace the file. */
function sharedDirectoryProblem(path: string, parent: Stats, uid: number): SafetyProblem {
  const directory = dirname(path);
  const problem = `${path} is in a directory where other users can create files (mode ${modeOf(parent)})`;
  if (parent.uid === uid && uid !== ROOT_UID) return { problem, fix: `chmod go-w ${shellWord(directory)}` };
  const ownDirectory = unusedDirectoryName(path, uid);
  const moved = join(ownDirectory, basename(path));
  const make = `mkdir -m 700 ${shellWord(ownDirectory)}`;
  const parts = ['', '-wal', '-shm', '-journal', '.d']
    .map((end) => path + end)
    .filter((one) => isOwn(one, uid));
  if (parts.length === 0)
    return { problem, fix: `use your own directory: ${make} && queuectl --db ${shellWord(moved)} …` };
  const move = `mv ${parts.map(shellWord).join(' ')} ${shellWord(`${ownDirectory}/`)}`;
  return {
    problem,
    fix: `while nothing uses the database, move it to your own directory: ${make} && ${move}. Then use it there: queuectl --db ${shellWord(moved)} …`,
  };
}

function isOwn(path: string, uid: number): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.uid === uid;
}

/** Returns the name of a directory that does not exist yet. */
function unusedDirectoryName(path: string, uid: number): string {
  const stem = join(dirname(path), basename(path, extname(path)));
  const names = [stem, `${stem}-queue`, `${stem}-${uid}`];
  const isFree = (name: string): boolean =>
    name !== path && lstatSync(name, { throwIfNoEntry: false }) === undefined;
  return names.find(isFree) ?? `${stem}-${process.pid}`;
}

export function modeOf(stat: Stats): string {
  return (stat.mode & 0o7777).toString(8).padStart(4, '0');
}

/** Returns the path as one word for a shell, without quotes if it needs none. */
function shellWord(path: string): string {
  return /^[\w./+@-]+$/.test(path) ? path : shellQuote(path);
}
