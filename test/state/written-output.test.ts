import { describe, expect, test } from 'bun:test';
import { appendFileSync, writeFileSync } from 'node:fs';
import { trimOutput } from '../../src/exec/trim.ts';
import type { OutputFiles } from '../../src/state/attempt-files.ts';
import { collectOutput, readGap } from '../../src/state/output.ts';
import { openWritten } from '../../src/state/output-reader.ts';
import { numberedLines, withAttemptFiles } from '../support/attempt-files.ts';

const LIMIT = 64 * 1024;

/** Reads the output in steps from a position on. Checks that each byte is the one that was written at its position. */
function readOn(files: OutputFiles, from: number, written: string): { size: number; bytes: number } {
  const output = openWritten(files)!;
  let bytes = 0;
  for (let at = from; at < output.size; ) {
    const part = output.read(at, Math.min(output.size, at + 7001));
    expect(Buffer.from(part.bytes).toString()).toBe(written.slice(part.at, part.at + part.bytes.length));
    expect(part.at + part.bytes.length).toBeGreaterThan(at);
    at = part.at + part.bytes.length;
    bytes += part.bytes.length;
  }
  output.close();
  return { size: output.size, bytes };
}

describe('output is read by the positions at which it was written', () => {
  test('in a file that was not trimmed', () =>
    withAttemptFiles((files) => {
      expect(openWritten(files)).toBeNull();
      const written = numberedLines(0, 5000);
      writeFileSync(files.output, written);
      expect(readOn(files, 0, written)).toEqual({ size: 50_000, bytes: 50_000 });
      expect(readOn(files, 49_990, written)).toEqual({ size: 50_000, bytes: 10 });
      expect(readOn(files, 60_000, written)).toEqual({ size: 50_000, bytes: 0 });
    }));

  test('in a file that was trimmed, and after it was shortened', () =>
    withAttemptFiles(async (files) => {
      const written = numberedLines(0, 30_000);
      writeFileSync(files.output, written);
      await trimOutput(files, LIMIT);
      const gap = readGap(files)!;
      const expected = { size: 300_000, bytes: 300_000 - (gap.to - gap.from) };
      expect(readOn(files, 0, written)).toEqual(expected);
      const inGap = openWritten(files)!;
      expect(inGap.read(gap.from + 5, gap.from + 10)).toMatchObject({ at: gap.to, bytes: { length: 0 } });
      inGap.close();
      appendFileSync(files.output, 'the end\n');
      expect(collectOutput(files, LIMIT)).toMatchObject({ truncated: true, bytes: 300_008 });
      const after = readGap(files)!;
      expect(readOn(files, 0, `${written}the end\n`)).toEqual({
        ...{ size: 300_008, bytes: 300_008 - (after.to - after.from) },
      });
      expect(readOn(files, 300_000, `${written}the end\n`)).toEqual({ size: 300_008, bytes: 8 });
    }));

  test('while the middle is dropped between two reads', () =>
    withAttemptFiles(async (files) => {
      const written = numberedLines(0, 30_000);
      writeFileSync(files.output, written);
      const output = openWritten(files)!;
      expect(output.read(100_000, 100_010)).toMatchObject({ at: 100_000, bytes: { length: 10 } });
      await trimOutput(files, LIMIT);
      const { at, bytes } = output.read(100_010, 300_000);
      expect(at).toBe(readGap(files)!.to);
      expect(Buffer.from(bytes).toString()).toBe(written.slice(at));
      output.close();
    }));
});
