import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import type { Place } from './place.ts';

/** Output up to this size moves into the store when the attempt settles. */
const KEPT_IN_STORE = 16 * 1024;
export const CHUNK = 64 * 1024;
/** Enough of the end to find the last line that says something. */
const TAIL = 4096;

/** The part [from, to) of an output file that was dropped. */
export interface Gap {
  from: number;
  to: number;
}

export interface Collected {
  bytes: number;
  truncated: boolean;
  kept: Uint8Array | null;
  tail: string;
}

/** Reads what an ended attempt wrote: short output whole, long output brought down to head, mark and tail. */
export function collectOutput(place: Place, limit: number): Collected {
  const shortened = collectShort(place);
  if (shortened !== null) return shortened;
  const file = openIfThere(place.output);
  if (file === null) return { bytes: 0, truncated: false, kept: null, tail: '' };
  try {
    const bytes = fstatSync(file).size;
    const tail = readRange(file, Math.max(0, bytes - TAIL), bytes).toString('utf8');
    if (bytes <= KEPT_IN_STORE) return { bytes, truncated: false, kept: readRange(file, 0, bytes), tail };
    const gap = gapOf(bytes, limit, readGap(place));
    if (gap !== null) compact(place, file, gap, bytes);
    return { bytes, truncated: gap !== null, kept: null, tail };
  } finally {
    closeSync(file);
  }
}

/** A worker that died between shortening and settling has done the work already. */
function collectShort(place: Place): Collected | null {
  const gap = readGap(place);
  const file = gap === null ? null : openIfThere(place.short);
  if (gap === null || file === null) return null;
  try {
    const kept = fstatSync(file).size;
    const tail = readRange(file, Math.max(0, kept - TAIL), kept).toString('utf8');
    return { bytes: kept - mark(gap).length + gap.to - gap.from, truncated: true, kept: null, tail };
  } finally {
    closeSync(file);
  }
}

/** Hands out a stored or still growing output file piece by piece, the gap marked. */
export function* outputPieces(place: Place): Generator<Uint8Array> {
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

function openOutput(place: Place): { file: number; gap: Gap | null } | null {
  const short = openIfThere(place.short);
  if (short !== null) return { file: short, gap: null };
  const whole = openIfThere(place.output);
  if (whole !== null) return { file: whole, gap: readGap(place) };
  // Shortened between the two looks, it is there under its other name.
  const late = openIfThere(place.short);
  return late === null ? null : { file: late, gap: null };
}

/** What is to be dropped of a file that has outgrown its limit, beside what is gone already. Half is head, half tail. */
export function gapOf(bytes: number, limit: number, gone: Gap | null): Gap | null {
  if (bytes <= limit) return gone;
  const half = Math.floor(limit / 2);
  const gap = { from: half, to: bytes - half };
  return gone === null ? gap : { from: Math.min(gap.from, gone.from), to: Math.max(gap.to, gone.to) };
}

export function outputSize(place: Place): number {
  return statSync(place.output, { throwIfNoEntry: false })?.size ?? 0;
}

export function readGap(place: Place): Gap | null {
  try {
    const [from, to] = readFileSync(place.gap, 'latin1').split(' ').map(Number);
    return from !== undefined && to !== undefined && to > from ? { from, to } : null;
  } catch {
    return null;
  }
}

export function writeGap(place: Place, gap: Gap): void {
  writeFileSync(`${place.gap}.new`, `${gap.from} ${gap.to}`, { mode: 0o600 });
  renameSync(`${place.gap}.new`, place.gap);
}

/** A file of its own: a process that the command left behind may still be writing to the old one. */
function compact(place: Place, file: number, gap: Gap, bytes: number): void {
  const short = openSync(`${place.short}.new`, 'w', 0o600);
  try {
    for (const piece of range(file, 0, gap.from)) writeSync(short, piece);
    writeSync(short, mark(gap));
    for (const piece of range(file, gap.to, bytes)) writeSync(short, piece);
  } finally {
    closeSync(short);
  }
  // Stays: whoever is reading the old file is told what was dropped of it.
  writeGap(place, gap);
  renameSync(`${place.short}.new`, place.short);
  rmSync(place.output, { force: true });
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
  try {
    return openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
