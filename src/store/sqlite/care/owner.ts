import { existsSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  ownershipProblems,
  parentProblems,
  refuseProblems,
  type SafetyProblem,
} from '../../../files/own-files.ts';
import { stateBeside } from '../../../state/state-directory.ts';
import { refuseNonFile } from './odd-file.ts';

/** The suffixes by which SQLite finds the parts of a database, whoever created them. */
export const PART_SUFFIXES = ['-journal', '-wal', '-shm'];
const MOVE_AWAY = 'find out who made it, and move it elsewhere';

/**
 * Returns what is not safe about the store at this path. Jobs are commands, so another user who can write or replace one of its
 * files can run anything as this user. What does not exist yet is safe. Nothing is changed.
 */
export function safetyProblems(location: string): SafetyProblem[] {
  const path = existsSync(location) ? realpathSync(location) : location;
  const directory = dirname(path);
  if (!existsSync(directory)) return parentProblems(directory);
  const state = stateBeside(path);
  const found = ownershipProblems([directory, state.path, state.attempts], [path]);
  for (const end of PART_SUFFIXES) found.push(...ownershipProblems([], [path + end], MOVE_AWAY));
  return found;
}

/** Throws if the store is not safe to use, unless `anyOwner` allows that. */
export function refuseUnsafe(location: string, anyOwner: boolean): void {
  if (!anyOwner) refuseProblems(safetyProblems(location));
}

/** Throws if there is something other than a regular file at the path, or if the store is not safe to use. */
export function checkSafety(path: string, anyOwner: boolean): void {
  refuseNonFile(path, statSync(path, { throwIfNoEntry: false }));
  refuseUnsafe(path, anyOwner);
}

/** Returns the name of the file system of a directory if SQLite is not safe on it, or null. `type` is the kernel's number for it. What is behind FUSE is unknown. */
export function networkFileSystemOf(
  directory: string,
  type = Number(statfsSync(directory).type) >>> 0,
): string | null {
  switch (type) {
    case 26985:
      return 'NFS';
    case 20859:
      return 'SMB';
    case 4283649346:
      return 'CIFS';
    case 4266872130:
      return 'SMB2';
    case 16914839:
      return '9p';
    case 1702057286:
      return 'FUSE';
    default:
      return null;
  }
}

function localName(type: number): string | null {
  switch (type) {
    case 61267:
      return 'ext4';
    case 16914836:
      return 'tmpfs';
    case 1481003842:
      return 'xfs';
    case 2435016766:
      return 'btrfs';
    case 2035054128:
      return 'overlay';
    case 801189825:
      return 'zfs';
    default:
      return null;
  }
}

/** Returns the name of a file system, or null if it is unknown, and whether it is a network file system. */
export function fileSystemOf(directory: string): { name: string | null; isNetwork: boolean } {
  const type = Number(statfsSync(directory).type) >>> 0;
  const network = networkFileSystemOf(directory, type);
  return { name: network ?? localName(type), isNetwork: network !== null };
}
