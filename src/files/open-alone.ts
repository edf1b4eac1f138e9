import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { orNull } from '../core/or-null.ts';

/* The values of Linux, which are the same for all processors. Those of O_NOFOLLOW differ. */
const O_APPEND = 0o2000;
const F_SETFL = 4;
const F_SETSIG = 10;
const F_SETLEASE = 1024;
const F_WRLCK = 1;
const F_UNLCK = 2;
const SIGURG = 23;

/** The number of the type `int`, as the runtime numbers the types of C. */
const INT = 5;

type Fcntl = (file: number, command: number, value: number) => number;
interface Ffi {
  dlopen(name: string, signatures: object): { symbols: { fcntl: Fcntl } };
}

let fcntl: Fcntl | null | undefined;

/** Tells whether `openAlone` can work: on Linux, in the runtime that can call the C library. */
export function canOpenAlone(): boolean {
  if (fcntl === undefined) fcntl = process.platform === 'linux' ? orNull(loadFcntl) : null;
  return fcntl !== null;
}

function loadFcntl(): Fcntl {
  const { FFI } = (globalThis as unknown as { Bun: { FFI: Ffi } }).Bun;
  // The runtime has loaded the library already, so no other file of this name is looked for.
  return FFI.dlopen('libc.so.6', { fcntl: { args: [INT, INT, INT], returns: INT } }).symbols.fcntl;
}

/**
 * Opens an empty file of this user for appending. Returns null if any process has it open, so that nobody else can write to it or
 * read it later, and for anything else than such a file, such as one with a second name or with other permissions than 0600.
 */
export function openAlone(path: string, notBefore: number): number | null {
  if (!canOpenAlone()) return null;
  const { O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = orNull(() => openSync(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK));
  if (file === null) return null;
  if (isAlone(file) && isEmptyFile(file, notBefore) && fcntl!(file, F_SETFL, O_APPEND) === 0) return file;
  closeSync(file);
  return null;
}

/** Tells whether this is the only open description of a file. Linux grants a write lease only then. */
function isAlone(file: number): boolean {
  // If another process opens the file just now, it waits for the end of the lease, and we get this signal, which is ignored.
  if (fcntl!(file, F_SETSIG, SIGURG) !== 0) return false;
  return fcntl!(file, F_SETLEASE, F_WRLCK) === 0 && fcntl!(file, F_SETLEASE, F_UNLCK) === 0;
}

function isEmptyFile(file: number, notBefore: number): boolean {
  const { mode, size, nlink, uid, mtimeMs } = fstatSync(file);
  return mode === 0o100600 && size === 0 && nlink === 1 && uid === process.getuid!() && mtimeMs >= notBefore;
}
