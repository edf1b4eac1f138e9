import { closeSync, fstatSync, openSync, readdirSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import { abandonedParts } from '../files/drafts.ts';
import { openRegular } from '../files/regular-file.ts';
import { writeAll } from '../files/write-all.ts';
import type { OutputPlace } from './place.ts';

/** Output up to this size moves into the store when the attempt settles. */
export const KEPT_IN_STORE = 16 * 1024;
export const CHUNK = 64 * 1024;
/** The end of the output that the error message is searched in. A stack trace fits into it. */
const TAIL = KEPT_IN_STORE;
const LONGEST_MARK = 128;

/** The part [from, to) of an output file that was dropped. */
export interface Gap {
  from: number;
  to: number;
}

export interface Collected {
  bytes: number;
  truncated: boolean;
  kept: Uint8Array | null;
  /** What is left of it, where something was dropped. */
  stored?: number;
  tail: string;
}

/** Reads what an ended attempt wrote: short output whole, long output brought down to head, mark and tail. */
export function collectOutput(place: OutputPlace, limit: number): Collected {
  const shortened = collectShort(place);
  if (shortened !== null) return shortened;
  const file = openIfThere(place.output);
  if (file === null) return { bytes: 0, truncated: false, kept: null, tail: '' };
  try {
    const bytes = fstatSync(file).size;
    const end = readRange(file, Math.max(0, bytes - TAIL), bytes);
    const tail = end.toString('utf8');
    if (bytes <= KEPT_IN_STORE) return { bytes, truncated: false, kept: end, tail };
    const gap = gapOf(bytes, limit, readGap(place));
    if (gap === null) return { bytes, truncated: false, kept: null, tail };
    compact(place, file, gap, bytes);
    return { bytes, truncated: true, kept: null, stored: storedSize(place), tail };
  } finally {
    closeSync(file);
  }
}

/** What is left of output that was too long: the short file, or, without room for one, what the holes leave. */
function storedSize(place: OutputPlace): number {
  return statSync(shortOf(place), { throwIfNoEntry: false })?.size ?? outputSize(place).used;
}

/** A worker that died between shortening and settling has done the work already. */
function collectShort(place: OutputPlace): Collected | null {
  const file = openIfThere(shortOf(place));
  if (file === null) return null;
  try {
    const gap = readGap(place) ?? { from: 0, to: 0 };
    const kept = fstatSync(file).size;
    const tail = readRange(file, Math.max(0, kept - TAIL), kept).toString('utf8');
    return {
      bytes: kept - mark(gap).length + gap.to - gap.from,
      truncated: true,
      kept: null,
      stored: kept,
      tail,
    };
  } finally {
    closeSync(file);
  }
}

/** Hands out a stored or still growing output file piece by piece, the gap marked. */
export function* outputPieces(place: OutputPlace): Generator<Uint8Array> {
  const opened = openOutput(place);
  if (opened === null) return;
  const { file, gap } = opened;
  try {
    const bytes = fstatSync(file).size;
    yield* range(file, 0, gap?.from ?? bytes);
    if (gap === null) return;
    yield mark(gap);
    yield* range(file, gap.to, bytes);
  } finally {
    closeSync(file);
  }
}

/** A stretch of an output, by the bytes of what is kept of it; a part that was dropped is passed over. */
export interface OutputRange {
  from: number;
  /** Where to go on. */
  next: number;
  size: number;
  bytes: Uint8Array;
}

/** `from` below zero counts from the end. */
export function outputRange(place: OutputPlace, from: number, most: number): OutputRange {
  const opened = openOutput(place);
  if (opened === null) return { from: 0, next: 0, size: 0, bytes: new Uint8Array() };
  const { file, gap } = opened;
  try {
    const size = fstatSync(file).size;
    const start = clamp(from, size);
    if (gap !== null && start >= gap.from && start < gap.to)
      return { from: start, next: gap.to, size, bytes: mark(gap) };
    const end = Math.min(start + most, gap !== null && start < gap.from ? gap.from : size);
    const bytes = readRange(file, start, end);
    return { from: start, next: start + bytes.length, size, bytes };
  } finally {
    closeSync(file);
  }
}

export function sliceOf(kept: Uint8Array, from: number, most: number): OutputRange {
  const start = clamp(from, kept.length);
  const bytes = kept.subarray(start, start + most);
  return { from: start, next: start + bytes.length, size: kept.length, bytes };
}

function clamp(from: number, size: number): number {
  return Math.max(0, Math.min(size, from < 0 ? size + from : from));
}

function openOutput(place: OutputPlace): { file: number; gap: Gap | null } | null {
  const short = openIfThere(shortOf(place));
  if (short !== null) return { file: short, gap: null };
  const whole = openIfThere(place.output);
  if (whole !== null) return { file: whole, gap: readGap(place) };
  // Shortened between the two looks, it is there under its other name.
  const late = openIfThere(shortOf(place));
  return late === null ? null : { file: late, gap: null };
}

/** What is kept of output that was too long, once the attempt has ended: head, mark and tail. */
function shortOf(place: OutputPlace): string {
  return `${place.output}.short`;
}

/** What is to be dropped of a file that has outgrown its limit, beside what is gone already. Half is head, half tail. */
export function gapOf(bytes: number, limit: number, gone: Gap | null): Gap | null {
  if (bytes <= limit) return gone;
  // With the mark between them they fit the limit, so that what was cut once is not cut again.
  const half = Math.floor((limit - LONGEST_MARK) / 2);
  const gap = { from: half, to: bytes - half };
  return gone === null ? gap : join(gap, gone);
}

/** How long the file is, and how much of the disk it takes: holes take nothing. */
export function outputSize(place: OutputPlace): { bytes: number; used: number } {
  const file = openRegular(place.output);
  if (typeof file !== 'number') return { bytes: 0, used: 0 };
  const { size, blocks } = fstatSync(file);
  closeSync(file);
  return { bytes: size, used: blocks * 512 };
}

/**
 * The gap is kept as the name of an empty file: that needs no block, so a full disk cannot stop the trimming that would
 * free it.
 */
export function readGap(place: OutputPlace): Gap | null {
  let gap: Gap | null = null;
  for (const name of gapNames(place)) {
    const [, from, to] = name.split('-').map(Number);
    if (from !== undefined && to !== undefined) gap = gap === null ? { from, to } : join(gap, { from, to });
  }
  return gap;
}

export function writeGap(place: OutputPlace, gap: Gap): void {
  const old = gapNames(place);
  const name = `${place.gaps}-${gap.from}-${gap.to}`;
  crashPoint('before-gap');
  if (!old.includes(name)) closeSync(openSync(`${place.directory}/${name}`, 'ax', 0o600));
  crashPoint('after-gap');
  for (const before of old) if (before !== name) rmSync(`${place.directory}/${before}`, { force: true });
}

function gapNames(place: OutputPlace): string[] {
  try {
    return readdirSync(place.directory).filter((name) => new RegExp(`^${place.gaps}-\\d+-\\d+$`).test(name));
  } catch {
    return [];
  }
}

function join(a: Gap, b: Gap): Gap {
  return { from: Math.min(a.from, b.from), to: Math.max(a.to, b.to) };
}

/**
 * A file of its own: a process that the command left behind may still be writing to the old one. Without room for it,
 * or leave to make it, the old one stays. Its gap is noted: whoever is reading the old file is told what was dropped.
 */
function compact(place: OutputPlace, file: number, gap: Gap, bytes: number): void {
  const draft = `${place.output}.${process.pid}`;
  try {
    writeGap(place, gap);
    rmSync(draft, { force: true });
    crashPoint('before-draft');
    const short = openSync(draft, 'wx', 0o600);
    try {
      for (const piece of range(file, 0, gap.from)) writeAll(short, piece);
      writeAll(short, mark(gap));
      for (const piece of range(file, gap.to, bytes)) writeAll(short, piece);
    } finally {
      closeSync(short);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') rmSync(draft, { force: true });
    else passOver(error);
    return;
  }
  crashPoint('before-short');
  renameSync(draft, shortOf(place));
  crashPoint('after-short');
  rmSync(place.output, { force: true });
  removeDrafts(place);
}

/** Those of workers that were killed at this. */
function removeDrafts(place: OutputPlace): void {
  const name = new RegExp(`^${basename(place.output)}\\.(\\d+)$`);
  for (const { path } of abandonedParts(place.directory, name)) rmSync(path, { force: true });
}

/** Somebody has moved, replaced or locked the attempt's directory: its output is theirs, and no worker stops for it. */
export function passOver(error: unknown): void {
  const { code } = error as NodeJS.ErrnoException;
  if (!['EACCES', 'EPERM', 'ENOENT', 'ENOTDIR', 'ELOOP', 'EEXIST'].includes(code ?? '')) throw error;
}

export function mark(gap: Gap): Uint8Array {
  return Buffer.from(`\n[queuectl: ${gap.to - gap.from} bytes of output dropped here]\n`);
}

function* range(file: number, from: number, to: number): Generator<Uint8Array> {
  for (let at = from; at < to; ) {
    const piece = readRange(file, at, Math.min(to, at + CHUNK));
    if (piece.length === 0) return;
    at += piece.length;
    yield piece;
  }
}

export function readRange(file: number, from: number, to: number): Buffer {
  const buffer = Buffer.alloc(to - from);
  return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, from));
}

export function openIfThere(path: string): number | null {
  const file = openRegular(path);
  return typeof file === 'number' ? file : null;
}
