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
const CHUNK = 64 * 1024;
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
  /** What is left of it, where something was dropped. */
  stored?: number;
  tail: string;
}

/** Reads what an ended attempt wrote: short output whole, long output brought down to head, mark and tail. */
export function collectOutput(place: Place, limit: number): Collected {
  const file = openIfThere(place.output);
  if (file === null) return { bytes: 0, truncated: false, kept: null, tail: '' };
  try {
    const bytes = fstatSync(file).size;
    const tail = readRange(file, Math.max(0, bytes - TAIL), bytes).toString('utf8');
    if (bytes <= KEPT_IN_STORE) return { bytes, truncated: false, kept: readRange(file, 0, bytes), tail };
    const gap = gapOf(bytes, limit, readGap(place));
    if (gap === null) return { bytes, truncated: false, kept: null, tail };
    compact(place, file, gap, bytes);
    return { bytes, truncated: true, kept: null, stored: outputSize(place), tail };
  } finally {
    closeSync(file);
  }
}

/** Hands out a stored or still growing output file piece by piece, the gap marked. */
export function* outputPieces(place: Place): Generator<Uint8Array> {
  const file = openIfThere(place.output);
  if (file === null) return;
  try {
    const bytes = fstatSync(file).size;
    const gap = readGap(place);
    yield* range(file, 0, gap?.from ?? bytes);
    if (gap === null) return;
    yield mark(gap);
    yield* range(file, gap.to, bytes);
  } finally {
    closeSync(file);
  }
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

/** A new file beside the old one: a process that the command left behind may still be writing there. */
function compact(place: Place, file: number, gap: Gap, bytes: number): void {
  const short = openSync(`${place.output}.new`, 'w', 0o600);
  try {
    for (const piece of range(file, 0, gap.from)) writeSync(short, piece);
    writeSync(short, mark(gap));
    for (const piece of range(file, gap.to, bytes)) writeSync(short, piece);
  } finally {
    closeSync(short);
  }
  renameSync(`${place.output}.new`, place.output);
  rmSync(place.gap, { force: true });
}

function mark(gap: Gap): Uint8Array {
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

function readRange(file: number, from: number, to: number): Buffer {
  const buffer = Buffer.alloc(to - from);
  return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, from));
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
