import { closeSync } from 'node:fs';
import { CHUNK_BYTES, type Gap, gapMark, openIfThere, readBytes, readGap } from './output.ts';
import type { OutputPlace } from './place.ts';

/** Reads a growing output file. Yields each byte once, and a mark where bytes were dropped before they were read. */
export interface OutputReader {
  /** Tells whether the file has been opened. Then it can be read to its end even if it is removed. */
  readonly opened: boolean;
  /** Yields the bytes that were written since the last call. */
  read(): Generator<Uint8Array>;
  close(): void;
}

export function outputReader(place: OutputPlace): OutputReader {
  let file: number | null = null;
  let at = 0;
  let gap: Gap | null = null;
  return {
    get opened() {
      return file !== null;
    },
    *read() {
      file ??= openIfThere(place.output);
      while (file !== null) {
        gap = readGap(place) ?? gap;
        if (gap !== null && at >= gap.from && at < gap.to) {
          yield gapMark({ from: at, to: gap.to });
          at = gap.to;
        }
        const piece = readBytes(file, at, at + CHUNK_BYTES);
        if (piece.length === 0) return;
        // A gap is recorded before its bytes are dropped. So the bytes of the piece outside the gap are the original ones.
        gap = readGap(place) ?? gap;
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
