import {
  closeSync,
  fstatSync,
  openSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { crashPoint, inSteps } from '../core/crash-point.ts';
import { orNull } from '../core/text/language.ts';
import { openRegular } from '../files/read.ts';
import { abandonedParts, writeAll } from '../files/write.ts';
import { type AttemptFiles, type OutputFiles, removeAll, streamFiles } from './attempt-files.ts';

/** Output of up to this many bytes moves into the store when the attempt is settled. */
const LARGEST_STORED_BYTES = 16 * 1024;
export const CHUNK_BYTES = 64 * 1024;
/** The size of `CollectedOutput.tail`, in which the error message is searched. A stack trace fits into it. */
const TAIL_BYTES = LARGEST_STORED_BYTES;
const LONGEST_MARK_BYTES = 128;

/** The part [from, to) of an output file that was dropped. */
export interface Gap {
  from: number;
  to: number;
}

export interface CollectedOutput {
  /** The number of bytes that the command wrote, including those that were dropped. */
  bytes: number;
  truncated: boolean;
  /** The whole output, or null if there is none or it is too long for the store. */
  kept: Uint8Array | null;
  /** The size of the output file after some bytes were dropped. Unset if none were. */
  remainingBytes?: number;
  /** The end of the output. */
  tail: string;
}

/** Reads the output of an ended attempt. Output beyond `limit` is shortened to head, mark and tail. */
export function collectOutput(files: OutputFiles, limit: number): CollectedOutput {
  const output = openIfThere(files.output);
  // A worker that died between shortening and settling left the short file.
  const short = output === null ? openIfThere(files.short) : null;
  const file = output ?? short;
  if (file === null) return { bytes: 0, truncated: false, kept: null, tail: '' };
  try {
    const bytes = fstatSync(file).size;
    const end = readBytes(file, Math.max(0, bytes - TAIL_BYTES), bytes);
    const tail = end.toString('utf8');
    if (short !== null) {
      const { from, to } = readGap(files) ?? { from: 0, to: 0 };
      const writtenBytes = bytes - gapMark({ from, to }).length + to - from;
      return { bytes: writtenBytes, truncated: true, kept: null, remainingBytes: bytes, tail };
    }
    if (bytes <= LARGEST_STORED_BYTES) return { bytes, truncated: false, kept: end, tail };
    const gap = gapOf(bytes, limit, readGap(files));
    if (gap === null) return { bytes, truncated: false, kept: null, tail };
    shorten(files, file, gap, bytes);
    return { bytes, truncated: true, kept: null, remainingBytes: remainingSize(files), tail };
  } finally {
    closeSync(file);
  }
}

/** Returns the size of the short file or, if it could not be written, the disk space of the output file. */
function remainingSize(files: OutputFiles): number {
  return statSync(files.short, { throwIfNoEntry: false })?.size ?? outputSize(files).used;
}

/** Yields the pieces of an output file, which may still be growing, with a mark in place of the gap. */
export function* outputPieces(files: OutputFiles): Generator<Uint8Array> {
  const opened = openOutput(files);
  if (opened === null) return;
  const { file, gap } = opened;
  try {
    const bytes = fstatSync(file).size;
    yield* readPieces(file, 0, gap?.from ?? bytes);
    if (gap === null) return;
    yield gapMark(gap);
    yield* readPieces(file, gap.to, bytes);
  } finally {
    closeSync(file);
  }
}

/** A byte range of an output file. A range that begins in the gap is that of the gap, and holds the mark instead. */
export interface OutputRange {
  from: number;
  /** The offset to continue from. */
  next: number;
  size: number;
  bytes: Uint8Array;
}

/** Reads a byte range. A negative `from` counts from the end. */
export function outputRange(files: OutputFiles, from: number, maxBytes: number): OutputRange {
  const opened = openOutput(files);
  if (opened === null) return { from: 0, next: 0, size: 0, bytes: new Uint8Array() };
  const { file, gap } = opened;
  try {
    const size = fstatSync(file).size;
    const start = startOffset(from, size);
    if (gap !== null && start >= gap.from && start < gap.to)
      return { from: gap.from, next: gap.to, size, bytes: gapMark(gap) };
    const end = Math.min(start + maxBytes, gap !== null && start < gap.from ? gap.from : size);
    const bytes = readBytes(file, start, end);
    return { from: start, next: start + bytes.length, size, bytes };
  } finally {
    closeSync(file);
  }
}

/** Does the same as `outputRange` for output that is in memory. */
export function sliceOf(kept: Uint8Array, from: number, maxBytes: number): OutputRange {
  const start = startOffset(from, kept.length);
  const bytes = kept.subarray(start, start + maxBytes);
  return { from: start, next: start + bytes.length, size: kept.length, bytes };
}

/** Returns the offset of the first byte to read. A negative `from` counts from the end. */
export function startOffset(from: number, size: number): number {
  return Math.max(0, Math.min(size, from < 0 ? size + from : from));
}

/** Opens the short file or the output file. Tries the short file again at the end, because the output may be shortened in between. */
function openOutput(files: OutputFiles): { file: number; gap: Gap | null } | null {
  const short = files.short;
  for (const path of [short, files.output, short]) {
    const file = openIfThere(path);
    if (file !== null) return { file, gap: path === short ? null : readGap(files) };
  }
  return null;
}

/** Returns the part to drop from a file, including the part `dropped` before. Head and tail keep half of the limit each. */
export function gapOf(bytes: number, limit: number, dropped: Gap | null): Gap | null {
  if (bytes <= limit) return dropped;
  // Head, mark and tail fit the limit together, so that shortened output is not shortened again.
  const half = Math.floor((limit - LONGEST_MARK_BYTES) / 2);
  const gap = { from: half, to: bytes - half };
  return dropped === null ? gap : union(gap, dropped);
}

/** Returns the length of the output file, and the disk space that it uses without its holes, both in bytes. */
export function outputSize(files: OutputFiles): { bytes: number; used: number } {
  const file = openIfThere(files.output);
  if (file === null) return { bytes: 0, used: 0 };
  const { size, blocks } = fstatSync(file);
  closeSync(file);
  return { bytes: size, used: blocks * 512 };
}

/** Reads the gap, which the text of a symbolic link records. Such a link needs no disk block, so a full disk cannot prevent trimming. */
export function readGap(files: OutputFiles): Gap | null {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(orNull(() => readlinkSync(files.gap)) ?? '');
  return match === null ? null : { from: Number(match[1]), to: Number(match[2]) };
}

/** Records the gap in place of an earlier one. */
export function writeGap(files: OutputFiles, gap: Gap): void {
  const draft = `${files.gap}.${process.pid}`;
  rmSync(draft, { force: true });
  const link = (): void => symlinkSync(`${gap.from}-${gap.to}`, draft);
  inSteps('gap', link, () => renameSync(draft, files.gap));
}

function union(a: Gap, b: Gap): Gap {
  return { from: Math.min(a.from, b.from), to: Math.max(a.to, b.to) };
}

/**
 * Writes the shortened output to a new file, because a process that the command left behind may still be writing to the old one.
 * On a full disk, or without access to the directory, the old file stays. Its gap is recorded first, so that readers find it.
 */
function shorten(files: OutputFiles, file: number, gap: Gap, bytes: number): void {
  const draft = `${files.output}.${process.pid}`;
  try {
    writeGap(files, gap);
    rmSync(draft, { force: true });
    crashPoint('before-draft');
    const short = openSync(draft, 'wx', 0o600);
    try {
      for (const piece of readPieces(file, 0, gap.from)) writeAll(short, piece);
      writeAll(short, gapMark(gap));
      for (const piece of readPieces(file, gap.to, bytes)) writeAll(short, piece);
    } finally {
      closeSync(short);
    }
    inSteps('short', () => renameSync(draft, files.short));
  } catch (error) {
    removeAll(draft);
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') ignoreDirectoryError(error);
    return;
  }
  rmSync(files.output, { force: true });
  sweepShortDrafts(files);
}

/** Removes the drafts of short files from workers that were killed. */
function sweepShortDrafts(files: OutputFiles): void {
  const name = new RegExp(`^${basename(files.output).replaceAll('.', '\\.')}\\.(\\d+)$`);
  for (const { path } of abandonedParts(dirname(files.output), name)) rmSync(path, { force: true });
}

/** Throws the error, unless its cause is that the attempt's files, or their directory, were moved, replaced or locked. A worker must not fail for that. */
export function ignoreDirectoryError(error: unknown): void {
  const { code } = error as NodeJS.ErrnoException;
  if (!['EACCES', 'EPERM', 'ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EEXIST'].includes(code ?? ''))
    throw error;
}

/** Returns the text that readers see in place of a gap. `more` tells where the bytes are, if they are somewhere. */
export function gapMark(gap: Gap, more = ''): Uint8Array {
  return Buffer.from(`\n[queuectl: ${gap.to - gap.from} bytes of output dropped here${more}]\n`);
}

function* readPieces(file: number, from: number, to: number): Generator<Uint8Array> {
  for (let at = from; at < to; ) {
    const piece = readBytes(file, at, Math.min(to, at + CHUNK_BYTES));
    if (piece.length === 0) return;
    at += piece.length;
    yield piece;
  }
}

export function readBytes(file: number, from: number, to: number): Buffer {
  const buffer = Buffer.alloc(to - from);
  return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, from));
}

/** Opens an output file. Returns null if there is none. */
export function openIfThere(path: string): number | null {
  const file = openRegular(path);
  return typeof file === 'number' ? file : null;
}

export interface CollectedStreams extends CollectedOutput {
  /** The stderr of split output. Then `kept` is only its stdout. */
  keptStderr?: Uint8Array;
}

/** Reads the output of an ended attempt. Both streams of split output move into the store, or neither. */
export function collectStreams(files: AttemptFiles, split: boolean, limit: number): CollectedStreams {
  const out = collectOutput(files, limit);
  if (!split) return out;
  const err = collectOutput(streamFiles(files, 'stderr'), limit);
  const bytes = out.bytes + err.bytes;
  const truncated = out.truncated || err.truncated;
  return {
    bytes,
    truncated,
    ...(bytes <= LARGEST_STORED_BYTES
      ? { kept: out.kept ?? NO_BYTES, keptStderr: err.kept ?? NO_BYTES }
      : { kept: null }),
    ...(truncated ? { remainingBytes: remainingIn(out) + remainingIn(err) } : {}),
    // The reason for a failure is usually on stderr.
    tail: err.tail.trim() === '' ? out.tail : err.tail,
  };
}

const remainingIn = (stream: CollectedOutput): number => stream.remainingBytes ?? stream.bytes;
const NO_BYTES = new Uint8Array();
