/**
 * Replaces `node:fs` in the executable for Linux (scripts/executable.ts), because loading that takes a short command about a third of a
 * millisecond. The functions that every `enqueue` uses call the C library. The others load `node:fs`. Unusual cases, such as errors, are
 * also left to `node:fs`. Once it is loaded, it does everything.
 */
import type * as NodeFs from 'node:fs';

type Fs = typeof NodeFs;
type Options = { throwIfNoEntry?: boolean; bigint?: boolean } | undefined;
type AnyFunction = (...args: unknown[]) => never;
interface Ffi {
  dlopen(name: string, signatures: object): { symbols: Record<string, Call> };
}
type Call = (...args: (number | Uint8Array | null)[]) => number;

let loaded: Fs | null = null;
const fs = (): Fs => (loaded ??= process.getBuiltinModule('node:fs'));

/* The types of arguments and results, as the runtime numbers them. */
const INT = 5;
const UINT = 6;
const POINTER = 12;

const AT_FDCWD = -100;
const AT_EMPTY_PATH = 0x1000;
const AT_SYMLINK_NOFOLLOW = 0x100;
const STATX_BASIC_STATS = 0x7ff;
const O_CREAT = 0o100;
const O_CLOEXEC = 0o2000000;
const O_PATH = 0o10000000;
const ENOENT = 2;
const EINTR = 4;

const S_IFMT = 0o170000;
const S_IFDIR = 0o040000;

/** The functions of the C library. Null if it cannot be used. */
let c: Record<string, Call> | null = null;
try {
  // The runtime has loaded the library already, so no other file of this name is looked for. The module `bun:ffi` would add only names
  // of the types, and takes longer to load.
  c = (Bun as unknown as { FFI: Ffi }).FFI.dlopen('libc.so.6', {
    statx: { args: [INT, POINTER, INT, UINT, POINTER], returns: INT },
    access: { args: [POINTER, INT], returns: INT },
    open: { args: [POINTER, INT, INT], returns: INT },
    close: { args: [INT], returns: INT },
    read: { args: [INT, POINTER, UINT], returns: INT },
    write: { args: [INT, POINTER, UINT], returns: INT },
    readlink: { args: [POINTER, POINTER, UINT], returns: INT },
    utimensat: { args: [INT, POINTER, POINTER, INT], returns: INT },
    statfs: { args: [POINTER, POINTER], returns: INT },
    memcpy: { args: [POINTER, POINTER, UINT], returns: POINTER },
    __errno_location: { args: [], returns: POINTER },
  }).symbols;
} catch {
  // Everything is left to node:fs.
}

/** Holds the path for the next call. */
const path = new Uint8Array(4096);
/** Holds what the last call has written. */
const words = new Uint32Array(2048);
const bytes = new Uint8Array(words.buffer);

/** Writes an ASCII text as the path for the next call. Returns false if `node:fs` has to do that call. */
function putPath(text: unknown): boolean {
  if (loaded !== null || c === null || typeof text !== 'string' || text.length >= path.length) return false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0 || code > 127) return false;
    path[i] = code;
  }
  path[text.length] = 0;
  return true;
}

/** Returns an unsigned number of 64 bits, rounded as `node:fs` rounds it. */
const wide = (at: number): number => words[at + 1]! * 2 ** 32 + words[at]!;
/** Returns the number of a device, as the C library combines its two parts. */
const deviceAt = (at: number): number => {
  const major = words[at]!;
  const minor = words[at + 1]!;
  return (major & 0xfff) * 256 + (minor & 0xff) + (minor >>> 8) * 2 ** 20 + (major >>> 12) * 2 ** 44;
};

/** The fields and methods of `Stats` that queuectl uses. A class would take more time. */
interface QuickStats {
  mode: number;
  isDirectory(): boolean;
}

function readStats(): QuickStats {
  return {
    mode: words[7]! & 0xffff,
    nlink: words[4]!,
    uid: words[5]!,
    gid: words[6]!,
    ino: wide(8),
    size: wide(10),
    ctimeMs: wide(24) * 1000 + words[26]! / 1e6,
    mtimeMs: wide(28) * 1000 + words[30]! / 1e6,
    atimeMs: wide(16) * 1000 + words[18]! / 1e6,
    rdev: deviceAt(32),
    dev: deviceAt(34),
    __proto__: STATS_METHODS,
  } as unknown as QuickStats;
}

const STATS_METHODS = {
  isFile(this: QuickStats): boolean {
    return (this.mode & S_IFMT) === 0o100000;
  },
  isDirectory(this: QuickStats): boolean {
    return (this.mode & S_IFMT) === S_IFDIR;
  },
  isSymbolicLink(this: QuickStats): boolean {
    return (this.mode & S_IFMT) === 0o120000;
  },
  isCharacterDevice(this: QuickStats): boolean {
    return (this.mode & S_IFMT) === 0o020000;
  },
  isFIFO(this: QuickStats): boolean {
    return (this.mode & S_IFMT) === 0o010000;
  },
};

/** Returns null if `node:fs` has to do this. */
function quickStat(name: unknown, flags: number, options: Options): QuickStats | undefined | null {
  if (options?.bigint || !putPath(name)) return null;
  if (c!.statx!(AT_FDCWD, path, flags, STATX_BASIC_STATS, bytes) === 0) return readStats();
  c!.memcpy!(bytes, c!.__errno_location!(), 4);
  return options?.throwIfNoEntry === false && words[0] === ENOENT ? undefined : null;
}

export function statSync(name: string, options?: Options): unknown {
  const stat = quickStat(name, 0, options);
  return stat === null ? fs().statSync(name, options as object) : stat;
}

export function lstatSync(name: string, options?: Options): unknown {
  const stat = quickStat(name, AT_SYMLINK_NOFOLLOW, options);
  return stat === null ? fs().lstatSync(name, options as object) : stat;
}

export function fstatSync(fd: number, options?: Options): unknown {
  if (!options?.bigint && putPath('')) {
    if (c!.statx!(fd, path, AT_EMPTY_PATH, STATX_BASIC_STATS, bytes) === 0) return readStats();
  }
  return fs().fstatSync(fd, options as object);
}

export function existsSync(name: string): boolean {
  return putPath(name) ? c!.access!(path, 0) === 0 : fs().existsSync(name);
}

export function accessSync(name: string, mode?: number): void {
  if (!putPath(name) || c!.access!(path, mode ?? 0) !== 0) fs().accessSync(name, mode);
}

export function openSync(name: string, flags?: NodeFs.OpenMode, mode?: NodeFs.Mode): number {
  const isQuick = typeof flags === 'number' && (flags & O_CREAT) === 0 && mode === undefined;
  const fd = isQuick && putPath(name) ? c!.open!(path, flags | O_CLOEXEC, 0) : -1;
  return fd >= 0 ? fd : fs().openSync(name, flags!, mode);
}

export function closeSync(fd: number): void {
  if (loaded === null && c !== null) {
    if (c.close!(fd) === 0) return;
    c.memcpy!(bytes, c.__errno_location!(), 4);
    // The descriptor is closed all the same. Another file may have it by now.
    if (words[0] === EINTR) return;
  }
  fs().closeSync(fd);
}

/** Reads a whole small file as Latin-1. */
export function readFileSync(name: string, options?: unknown): unknown {
  const fd = options === 'latin1' && putPath(name) ? c!.open!(path, O_CLOEXEC, 0) : -1;
  if (fd < 0) return fs().readFileSync(name, options as object);
  let text = '';
  let count = c!.read!(fd, bytes, bytes.length);
  while (count > 0) {
    text += String.fromCharCode.apply(null, bytes.subarray(0, count) as unknown as number[]);
    count = c!.read!(fd, bytes, bytes.length);
  }
  c!.close!(fd);
  return count === 0 ? text : fs().readFileSync(name, options as object);
}

export function realpathSync(name: string): string {
  const fd = putPath(name) ? c!.open!(path, O_PATH | O_CLOEXEC, 0) : -1;
  if (fd < 0) return fs().realpathSync(name);
  putPath(`/proc/self/fd/${fd}`);
  const count = c!.readlink!(path, bytes, path.length);
  c!.close!(fd);
  const target = String.fromCharCode.apply(
    null,
    bytes.subarray(0, Math.max(0, count)) as unknown as number[],
  );
  // A name may have been longer than the buffer. Letters that are not ASCII are decoded by node:fs.
  return count > 0 && count < path.length && putPath(target) ? target : fs().realpathSync(name);
}

export function utimesSync(name: string, accessed: NodeFs.TimeLike, modified: NodeFs.TimeLike): void {
  if (typeof accessed === 'number' && typeof modified === 'number' && putPath(name)) {
    putTime(0, accessed);
    putTime(4, modified);
    if (c!.utimensat!(AT_FDCWD, path, bytes, 0) === 0) return;
  }
  fs().utimesSync(name, accessed, modified);
}

function putTime(at: number, seconds: number): void {
  const whole = Math.floor(seconds);
  words[at] = whole % 2 ** 32;
  words[at + 1] = Math.floor(whole / 2 ** 32);
  words[at + 2] = Math.min(999_999_999, Math.round((seconds - whole) * 1e9));
  words[at + 3] = 0;
}

export function mkdirSync(name: string, options?: NodeFs.MakeDirectoryOptions): string | undefined {
  // Most directories exist already.
  if (options?.recursive && quickStat(name, 0, undefined)?.isDirectory()) return undefined;
  return fs().mkdirSync(name, options);
}

export function statfsSync(name: string): unknown {
  if (!putPath(name) || c!.statfs!(path, bytes) !== 0) return fs().statfsSync(name);
  const [blocks, bfree, bavail, files, ffree] = [wide(4), wide(6), wide(8), wide(10), wide(12)];
  return { type: wide(0), bsize: wide(2), blocks, bfree, bavail, files, ffree };
}

export function writeSync(fd: number, data: unknown, ...rest: unknown[]): number {
  if (rest.length === 0 && putPath(data)) {
    const count = c!.write!(fd, path, (data as string).length);
    if (count >= 0) return count;
  }
  return (fs().writeSync as unknown as AnyFunction)(fd, data, ...rest);
}

/** The values of Linux. A test compares them. */
export const constants = {
  R_OK: 4,
  W_OK: 2,
  X_OK: 1,
  O_RDONLY: 0,
  O_WRONLY: 1,
  O_RDWR: 2,
  O_NONBLOCK: 0o4000,
  O_DIRECTORY: 0o200000,
  O_NOFOLLOW: 0o400000,
  COPYFILE_EXCL: 1,
  COPYFILE_FICLONE: 2,
};

/* The other functions that queuectl uses. The build fails if one is missing here. */
const later = <Name extends keyof Fs>(name: Name): Fs[Name] =>
  ((...args: unknown[]) => (fs()[name] as unknown as AnyFunction)(...args)) as unknown as Fs[Name];
export const appendFileSync = later('appendFileSync');
export const chmodSync = later('chmodSync');
export const copyFileSync = later('copyFileSync');
export const fsyncSync = later('fsyncSync');
export const ftruncateSync = later('ftruncateSync');
export const linkSync = later('linkSync');
export const mkdtempSync = later('mkdtempSync');
export const read = later('read');
export const readSync = later('readSync');
export const readdirSync = later('readdirSync');
export const readlinkSync = later('readlinkSync');
export const renameSync = later('renameSync');
export const rmSync = later('rmSync');
export const rmdirSync = later('rmdirSync');
export const stat = later('stat');
export const symlinkSync = later('symlinkSync');
export const truncateSync = later('truncateSync');
export const unlinkSync = later('unlinkSync');
export const watch = later('watch');
export const write = later('write');
export const writeFileSync = later('writeFileSync');
