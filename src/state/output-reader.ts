import { closeSync, fstatSync } from 'node:fs';
import type { OutputFiles } from './attempt-files.ts';
import { CHUNK_BYTES, type Gap, gapMark, openIfThere, readBytes, readGap } from './output.ts';

/** Reads a growing output file. Yields each byte once, and a mark where bytes were dropped before they were read. */
export interface OutputReader {
  /** Tells whether the file has been opened. Then it can be read to its end even if it is removed. */
  readonly opened: boolean;
  /** Yields the bytes that were written since the last call. */
  read(): Generator<Uint8Array>;
  close(): void;
}

export function outputReader(files: OutputFiles): OutputReader {
  let file: number | null = null;
  let at = 0;
  let gap: Gap | null = null;
  return {
    get opened() {
      return file !== null;
    },
    *read() {
      file ??= openIfThere(files.output);
      while (file !== null) {
        gap = readGap(files) ?? gap;
        if (gap !== null && at >= gap.from && at < gap.to) {
          yield gapMark({ from: at, to: gap.to });
          at = gap.to;
        }
        const piece = readBytes(file, at, at + CHUNK_BYTES);
        if (piece.length === 0) return;
        // A gap is recorded before its bytes are dropped. So the bytes of the piece outside the gap are the original ones.
        gap = readGap(files) ?? gap;
        const originalBytes = gap !== null && at < gap.to ? Math.max(0, gap.from - at) : piece.length;
        if (originalBytes === 0) continue;
        at += Math.min(originalBytes, piece.length);
        yield piece.subarray(0, originalBytes);
      }
    },
    close() {
      if (file !== null) closeSync(file);
    },
  };
}

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
export function openWritten(files: OutputFiles): WrittenOutput | null {
  // The short file is looked for again, because the output may be shortened in between.
  for (const path of [files.short, files.output, files.short]) {
    const file = openIfThere(path);
    if (file !== null) return path === files.short ? shortOutput(file, files) : fullOutput(file, files);
  }
  return null;
}

function fullOutput(file: number, files: OutputFiles): WrittenOutput {
  return {
    size: fstatSync(file).size,
    read(from, to) {
      const at = afterGap(from, readGap(files));
      const bytes = readBytes(file, at, Math.max(at, to));
      // A gap is recorded before its bytes are dropped. So the bytes outside the gap are the original ones.
      const gap = readGap(files);
      if (gap === null || at >= gap.to) return { at, bytes };
      return at < gap.from ? { at, bytes: bytes.subarray(0, gap.from - at) } : this.read(gap.to, to);
    },
    close: () => closeSync(file),
  };
}

/** Reads a short file: head, mark and tail. The gap tells which positions these have. */
function shortOutput(file: number, files: OutputFiles): WrittenOutput {
  const gap = readGap(files) ?? { from: 0, to: 0 };
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
