import { describe, expect, test } from 'bun:test';
import { appendFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { trimStreams } from '../../src/exec/trim.ts';
import { type AttemptFiles, attemptFiles, removeFiles, streamFiles } from '../../src/state/attempt-files.ts';
import { collectStreams, outputPieces, readGap } from '../../src/state/output.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import { inTempDir } from '../support/temp-dir.ts';

const LIMIT = 64 * 1024;

function inPlace(work: (files: AttemptFiles, stderrPath: string) => Promise<void> | void): Promise<void> {
  return inTempDir(async (directory) => {
    mkdirSync(`${directory}/attempts`);
    const files = attemptFiles(stateDirectory(directory), 'epoch', 1);
    await work(files, streamFiles(files, 'stderr').output);
  });
}

const text = (data: Uint8Array | null | undefined): string | null =>
  data ? Buffer.from(data).toString() : null;
const read = (files: AttemptFiles, stream: 'stdout' | 'stderr'): string =>
  Buffer.concat([...outputPieces(streamFiles(files, stream))]).toString();

describe('split output', () => {
  test('is stored if short, and its tail is that of stderr', () =>
    inPlace((files, stderrPath) => {
      writeFileSync(files.output, 'out\n');
      writeFileSync(stderrPath, 'err\n');
      const { kept, keptStderr, ...rest } = collectStreams(files, true, LIMIT);
      expect(rest).toEqual({ bytes: 8, truncated: false, tail: 'err\n' });
      expect([text(kept), text(keptStderr)]).toEqual(['out\n', 'err\n']);
    }));

  test('has the tail of stdout if stderr is blank', () =>
    inPlace((files, stderrPath) => {
      writeFileSync(files.output, 'out\n');
      writeFileSync(stderrPath, ' \n');
      expect(collectStreams(files, true, LIMIT)).toMatchObject({ tail: 'out\n' });
    }));

  test.each([
    [10_000, 10_000],
    [20_000, 5],
    [5, 20_000],
  ])(
    'of %d and %d bytes is too long for the store together, so both stay files',
    (stdoutBytes, stderrBytes) =>
      inPlace((files, stderrPath) => {
        writeFileSync(files.output, 'o'.repeat(stdoutBytes));
        writeFileSync(stderrPath, 'e'.repeat(stderrBytes));
        expect(collectStreams(files, true, LIMIT)).toMatchObject({
          bytes: stdoutBytes + stderrBytes,
          truncated: false,
          kept: null,
        });
        expect(read(files, 'stdout')).toBe('o'.repeat(stdoutBytes));
        expect(read(files, 'stderr')).toBe('e'.repeat(stderrBytes));
      }),
  );

  test('is trimmed by stream, and both streams are counted', () =>
    inPlace(async (files, stderrPath) => {
      writeFileSync(files.output, `first${'o'.repeat(1_000_000)}`);
      writeFileSync(stderrPath, 'begin');
      for (let i = 0; i < 3; i++) {
        appendFileSync(stderrPath, 'e'.repeat(1_000_000));
        await trimStreams(files, LIMIT);
        expect(statSync(stderrPath).blocks * 512).toBeLessThan(3 * LIMIT);
      }
      appendFileSync(stderrPath, 'end');
      const out = streamFiles(files, 'stdout');
      expect(readGap(out)!.to).toBeLessThanOrEqual(1_000_005);
      expect(readGap(streamFiles(files, 'stderr'))!.to).toBeGreaterThan(2_000_000);
      const collected = collectStreams(files, true, LIMIT);
      expect(collected).toMatchObject({ bytes: 4_000_013, truncated: true, kept: null });
      expect(collected.remainingBytes).toBeLessThan(2 * LIMIT + 300);
      expect(read(files, 'stdout')).toMatch(/^firsto+\n\[queuectl: \d+ bytes of output dropped here\]\no+$/);
      expect(read(files, 'stderr')).toMatch(
        /^begine+\n\[queuectl: \d+ bytes of output dropped here\]\ne+end$/,
      );
      // After a crash before the settlement, the next worker collects the same output again.
      expect(collectStreams(files, true, LIMIT)).toMatchObject({ bytes: 4_000_013, truncated: true });
    }));

  test('is removed with its files', () =>
    inPlace((files, stderrPath) => {
      writeFileSync(files.output, '');
      writeFileSync(stderrPath, '');
      writeFileSync(files.record, '');
      removeFiles(files);
      expect(readdirSync(files.state.attempts)).toEqual([]);
    }));
});
