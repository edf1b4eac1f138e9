import { describe, expect, test } from 'bun:test';
import { appendFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { trimStreams } from '../../src/exec/trim.ts';
import { outputPieces, readGap } from '../../src/state/output.ts';
import { outputPlaceIn, type Place, placeOf, removePlace } from '../../src/state/place.ts';
import { collectStreams } from '../../src/state/split-output.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import { inTempDir } from '../support/temp-dir.ts';

const LIMIT = 64 * 1024;

function inPlace(work: (place: Place, stderrPath: string) => Promise<void> | void): Promise<void> {
  return inTempDir(async (directory) => {
    mkdirSync(`${directory}/attempts`);
    const place = placeOf(stateDirectory(directory), 'epoch', 1);
    await work(place, outputPlaceIn(place, 'stderr').output);
  });
}

const text = (data: Uint8Array | null | undefined): string | null =>
  data ? Buffer.from(data).toString() : null;
const read = (place: Place, stream: 'stdout' | 'stderr'): string =>
  Buffer.concat([...outputPieces(outputPlaceIn(place, stream))]).toString();

describe('split output', () => {
  test('is stored if short, and its tail is that of stderr', () =>
    inPlace((place, stderrPath) => {
      writeFileSync(place.output, 'out\n');
      writeFileSync(stderrPath, 'err\n');
      const { kept, keptStderr, ...rest } = collectStreams(place, true, LIMIT);
      expect(rest).toEqual({ bytes: 8, truncated: false, tail: 'err\n' });
      expect([text(kept), text(keptStderr)]).toEqual(['out\n', 'err\n']);
    }));

  test('has the tail of stdout if stderr is blank', () =>
    inPlace((place, stderrPath) => {
      writeFileSync(place.output, 'out\n');
      writeFileSync(stderrPath, ' \n');
      expect(collectStreams(place, true, LIMIT)).toMatchObject({ tail: 'out\n' });
    }));

  test.each([
    [10_000, 10_000],
    [20_000, 5],
    [5, 20_000],
  ])(
    'of %d and %d bytes is too long for the store together, so both stay files',
    (stdoutBytes, stderrBytes) =>
      inPlace((place, stderrPath) => {
        writeFileSync(place.output, 'o'.repeat(stdoutBytes));
        writeFileSync(stderrPath, 'e'.repeat(stderrBytes));
        expect(collectStreams(place, true, LIMIT)).toMatchObject({
          bytes: stdoutBytes + stderrBytes,
          truncated: false,
          kept: null,
        });
        expect(read(place, 'stdout')).toBe('o'.repeat(stdoutBytes));
        expect(read(place, 'stderr')).toBe('e'.repeat(stderrBytes));
      }),
  );

  test('is trimmed by stream, and both streams are counted', () =>
    inPlace(async (place, stderrPath) => {
      writeFileSync(place.output, `first${'o'.repeat(1_000_000)}`);
      writeFileSync(stderrPath, 'begin');
      for (let i = 0; i < 3; i++) {
        appendFileSync(stderrPath, 'e'.repeat(1_000_000));
        await trimStreams(place, LIMIT);
        expect(statSync(stderrPath).blocks * 512).toBeLessThan(3 * LIMIT);
      }
      appendFileSync(stderrPath, 'end');
      const out = outputPlaceIn(place, 'stdout');
      expect(readGap(out)!.to).toBeLessThanOrEqual(1_000_005);
      expect(readGap(outputPlaceIn(place, 'stderr'))!.to).toBeGreaterThan(2_000_000);
      const collected = collectStreams(place, true, LIMIT);
      expect(collected).toMatchObject({ bytes: 4_000_013, truncated: true, kept: null });
      expect(collected.remainingBytes).toBeLessThan(2 * LIMIT + 300);
      expect(read(place, 'stdout')).toMatch(/^firsto+\n\[queuectl: \d+ bytes of output dropped here\]\no+$/);
      expect(read(place, 'stderr')).toMatch(
        /^begine+\n\[queuectl: \d+ bytes of output dropped here\]\ne+end$/,
      );
      // After a crash before the settlement, the next worker collects the same output again.
      expect(collectStreams(place, true, LIMIT)).toMatchObject({ bytes: 4_000_013, truncated: true });
    }));

  test('is removed with its place', () =>
    inPlace((place, stderrPath) => {
      writeFileSync(place.output, '');
      writeFileSync(stderrPath, '');
      writeFileSync(place.record, '');
      removePlace(place);
      expect(readdirSync(place.state.attempts)).toEqual([]);
    }));
});
