import { closeSync, fstatSync } from 'node:fs';
import { type Gap, gapMark, openIfThere, readBytes, readGap } from './output.ts';
import type { OutputPlace } from './place.ts';

/** Reads output by the positions at which the command wrote it, also after the output was shortened. */
export interface WrittenOutput {
  /** The number of bytes that the command had written when the output was opened, including those that were dropped. */
  readonly size: number;
  /**
   * Reads the bytes between two positions. `at` is the position of the first byte, which is higher than `from` if bytes were dropped
   * there. Returns no bytes if there are none before `to`.
   */
  read(from: number, to: number): { at: number; bytes: Uint8Array };
  close(): void;
}

/** Opens the output of a running or ended attempt. Returns null if it has no file. */
export function openWritten(place: OutputPlace): WrittenOutput | null {
  // The short file is looked for again, because the output may be shortened in between.
  for (const path of [place.short, place.output, place.short]) {
    const file = openIfThere(path);
    if (file !== null) return path === place.short ? shortOutput(file, place) : fullOutput(file, place);
  }
  return null;
}

function fullOutput(file: number, place: OutputPlace): WrittenOutput {
  return {
    size: fstatSync(file).size,
    read(from, to) {
      const at = afterGap(from, readGap(place));
      const bytes = readBytes(file, at, Math.max(at, to));
      // A gap is recorded before its bytes are dropped. So the bytes outside the gap are the original ones.
      const gap = readGap(place);
      if (gap === null || at >= gap.to) return { at, bytes };
      return at < gap.from ? { at, bytes: bytes.subarray(0, gap.from - at) } : this.read(gap.to, to);
    },
    close: () => closeSync(file),
  };
}

/** Reads a short file: head, mark and tail. The gap tells which positions these have. */
function shortOutput(file: number, place: OutputPlace): WrittenOutput {
  const gap = readGap(place) ?? { from: 0, to: 0 };
  const tailOffset = gap.from + gapMark(gap).length;
  return {
    size: Math.max(gap.from, fstatSync(file).size - tailOffset + gap.to),
    read(from, to) {
      const at = afterGap(from, gap);
      const isHead = at < gap.from;
      const offset = isHead ? at : at - gap.to + tailOffset;
      const end = Math.max(at, isHead ? Math.min(to, gap.from) : to);
      return { at, bytes: readBytes(file, offset, offset + end - at) };
    },
    close: () => closeSync(file),
  };
}

const afterGap = (from: number, gap: Gap | null): number =>
  gap !== null && from >= gap.from && from < gap.to ? gap.to : from;
