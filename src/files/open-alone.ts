import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { orNull } from '../core/or-null.ts';
import { cLibrary } from './c-library.ts';

/* These values of Linux are the same on x86-64 and arm64. */
const O_APPEND = 0o2000;
const F_SETFL = 4;
const F_SETSIG = 10;
const F_SETLEASE = 1024;
const F_WRLCK = 1;
const F_UNLCK = 2;
const SIGURG = 23;

/**
 * Opens an empty file of this user for appending. Returns null if any process has the file open, and for anything else than such a
 * file: one that was last changed before `notBefore`, has a second name, or has other permissions than 0600. Also returns null if
 * the system cannot tell.
 */
export function openAlone(path: string, notBefore: number): number | null {
  const { O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const fcntl = cLibrary()?.fcntl;
  if (fcntl === undefined) return null;
  const file = orNull(() => openSync(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK));
  if (file === null) return null;
  // A process may write to the file and close it just now. So nobody may have it open before the file is looked at.
  if (isAlone(file, fcntl) && isEmptyFile(file, notBefore) && fcntl(file, F_SETFL, O_APPEND) === 0)
    return file;
  closeSync(file);
  return null;
}

/** Tells whether nobody else has a file open. Only then does Linux grant a write lease, which ends at once. */
function isAlone(file: number, fcntl: (file: number, command: number, value: number) => number): boolean {
  // If another process opens the file just now, it waits for the end of the lease, and we get this signal, which is ignored.
  if (fcntl(file, F_SETSIG, SIGURG) !== 0) return false;
  return fcntl(file, F_SETLEASE, F_WRLCK) === 0 && fcntl(file, F_SETLEASE, F_UNLCK) === 0;
}

function isEmptyFile(file: number, notBefore: number): boolean {
  const { mode, size, nlink, uid, mtimeMs } = fstatSync(file);
  return mode === 0o100600 && size === 0 && nlink === 1 && uid === process.getuid!() && mtimeMs >= notBefore;
}
