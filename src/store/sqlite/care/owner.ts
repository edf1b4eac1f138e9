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

/** The names of file systems on which SQLite is not safe, by the kernel's numbers. What is behind FUSE is unknown. */
const NETWORK_FILE_SYSTEMS: Record<number, string> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  16914839: '9p',
  1702057286: 'FUSE',
};
const LOCAL_FILE_SYSTEMS: Record<number, string> = {
  61267: 'ext4',
  16914836: 'tmpfs',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  2035054128: 'overlay',
  801189825: 'zfs',
};

const fileSystemTypeOf = (directory: string): number => Number(statfsSync(directory).type) >>> 0;

/** Returns the name of the file system of a directory if SQLite is not safe on it, or null. */
export const networkFileSystemOf = (directory: string, type = fileSystemTypeOf(directory)): string | null =>
  NETWORK_FILE_SYSTEMS[type] ?? null;

/** Returns the name of a file system, or null if it is unknown, and whether it is a network file system. */
export function fileSystemOf(directory: string): { name: string | null; isNetwork: boolean } {
  const type = fileSystemTypeOf(directory);
  const network = networkFileSystemOf(directory, type);
  return { name: network ?? LOCAL_FILE_SYSTEMS[type] ?? null, isNetwork: network !== null };
}
