import { describe, expect, test } from 'bun:test';
import { appendFileSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { trimOutput } from '../../src/exec/trim.ts';
import { collectOutput, outputPieces, readGap } from '../../src/state/output.ts';
import type { Place } from '../../src/state/place.ts';
import { numberedLines, withPlace } from '../support/place.ts';

const LIMIT = 64 * 1024;

function readAll(place: Place): string {
  return Buffer.concat([...outputPieces(place)]).toString('latin1');
}

function expectHeadAndTail(text: string, whole: string): void {
  const match = /^([\s\S]*)\n\[queuectl: (\d+) bytes of output dropped here\]\n([\s\S]*)$/.exec(text);
  expect(match).not.toBeNull();
  const [, head, dropped, tail] = match!;
  expect(whole.startsWith(head!)).toBe(true);
  expect(whole.endsWith(tail!)).toBe(true);
  expect(head!.length + Number(dropped) + tail!.length).toBe(whole.length);
}

describe('output', () => {
  test('short output is stored whole, with its tail', () =>
    withPlace((place) => {
      writeFileSync(place.output, 'one\ntwo\n');
      const collected = collectOutput(place, LIMIT);
      expect(collected).toMatchObject({ bytes: 8, truncated: false, tail: 'one\ntwo\n' });
      expect(Buffer.from(collected.kept!).toString()).toBe('one\ntwo\n');
    }));

  test('a missing file counts as empty output', () =>
    withPlace((place) => {
      expect(collectOutput(place, LIMIT)).toEqual({ bytes: 0, truncated: false, kept: null, tail: '' });
      expect(readAll(place)).toBe('');
    }));

  test('longer output stays in its file', () =>
    withPlace((place) => {
      const text = numberedLines(0, 2000);
      writeFileSync(place.output, text);
      expect(collectOutput(place, LIMIT)).toMatchObject({ bytes: text.length, truncated: false, kept: null });
      expect(readAll(place)).toBe(text);
    }));

  test('output above the limit is shortened to head, mark and tail', () =>
    withPlace((place) => {
      const text = numberedLines(0, 50_000);
      writeFileSync(place.output, text);
      expect(collectOutput(place, LIMIT)).toMatchObject({ bytes: text.length, truncated: true, kept: null });
      expect(statSync(`${place.output}.short`).size).toBeLessThan(LIMIT + 200);
      expect(existsSync(place.output)).toBe(false);
      expectHeadAndTail(readAll(place), text);
    }));

  test('a growing file is trimmed repeatedly, stays readable, and keeps its head and tail', () =>
    withPlace(async (place) => {
      let text = '';
      writeFileSync(place.output, '');
      for (let round = 0; round < 6; round++) {
        const more = numberedLines(round * 20_000, (round + 1) * 20_000);
        appendFileSync(place.output, more);
        text += more;
        await trimOutput(place, LIMIT);
        expect(readGap(place)).not.toBeNull();
        expectHeadAndTail(readAll(place), text);
      }
      // The trimmed part is freed on the disk although the size of the file keeps growing.
      expect(statSync(place.output).size).toBe(text.length);
      expect(statSync(place.output).blocks * 512).toBeLessThan(3 * LIMIT);
      expect(collectOutput(place, LIMIT)).toMatchObject({ bytes: text.length, truncated: true });
      expectHeadAndTail(readAll(place), text);
      // After a crash before the settlement, the next worker collects the output again with the same result.
      expect(collectOutput(place, LIMIT)).toMatchObject({ bytes: text.length, truncated: true });
    }));
});
