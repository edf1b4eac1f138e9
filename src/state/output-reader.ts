import { closeSync } from 'node:fs';
import { CHUNK, type Gap, mark, openIfThere, readGap, readRange } from './output.ts';
import type { OutputPlace } from './place.ts';

/** Hands out an output file that grows, each byte once, and a mark where some were dropped before they were read. */
export interface OutputReader {
  /** The file was there: what it holds can be read to its end, whatever becomes of its name. */
  readonly opened: boolean;
  /** What has come since the last time. */
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
          yield mark({ from: at, to: gap.to });
          at = gap.to;
        }
        const piece = readRange(file, at, at + CHUNK);
        if (piece.length === 0) return;
        // Looked at again: a gap is told before it is torn, so what lies outside it now cannot have been a hole.
        gap = readGap(place) ?? gap;
        const sound = gap !== null && at < gap.to ? Math.max(0, gap.from - at) : piece.length;
        if (sound === 0) continue;
        at += Math.min(sound, piece.length);
        yield piece.subarray(0, sound);
      }
    },
    close() {
      if (file !== null) closeSync(file);
    },
  };
}
