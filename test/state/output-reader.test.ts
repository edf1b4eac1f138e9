import { describe, expect, test } from 'bun:test';
import { appendFileSync, writeFileSync } from 'node:fs';
import { trimOutput } from '../../src/exec/trim.ts';
import { collectOutput } from '../../src/state/output.ts';
import { outputReader } from '../../src/state/output-reader.ts';
import { removePlace } from '../../src/state/place.ts';
import { numberedLines, withPlace } from '../support/place.ts';

const LIMIT = 64 * 1024;
const MARK = /\n\[queuectl: (\d+) bytes of output dropped here\]\n/;

function text(pieces: Iterable<Uint8Array>): string {
  return Buffer.concat([...pieces]).toString('latin1');
}

describe('a reader of growing output', () => {
  test('returns each byte once, from before the file exists until after it is removed', () =>
    withPlace((place) => {
      const reader = outputReader(place);
      expect(text(reader.read())).toBe('');
      expect(reader.opened).toBe(false);
      writeFileSync(place.output, 'one\ntw');
      expect(text(reader.read())).toBe('one\ntw');
      expect(text(reader.read())).toBe('');
      appendFileSync(place.output, 'o\nthree\n');
      collectOutput(place, LIMIT);
      removePlace(place);
      expect(text(reader.read())).toBe('o\nthree\n');
      expect(reader.opened).toBe(true);
      reader.close();
    }));

  test('loses nothing if it keeps up while the file is trimmed and shortened', () =>
    withPlace(async (place) => {
      const reader = outputReader(place);
      let seen = '';
      let whole = '';
      writeFileSync(place.output, '');
      for (let round = 0; round < 6; round++) {
        const more = numberedLines(round * 20_000, (round + 1) * 20_000);
        appendFileSync(place.output, more);
        whole += more;
        seen += text(reader.read());
        await trimOutput(place, LIMIT);
      }
      appendFileSync(place.output, 'the end\n');
      expect(collectOutput(place, LIMIT).truncated).toBe(true);
      seen += text(reader.read());
      expect(seen === `${whole}the end\n`).toBe(true);
      reader.close();
    }));

  test('reports how much it missed when it falls behind, and never reads a hole', () =>
    withPlace(async (place) => {
      const reader = outputReader(place);
      const first = numberedLines(0, 1000);
      writeFileSync(place.output, first);
      expect(text(reader.read())).toBe(first);
      const more = numberedLines(1000, 60_000);
      appendFileSync(place.output, more);
      await trimOutput(place, LIMIT);
      const [head, dropped, tail] = text(reader.read()).split(MARK) as [string, string, string];
      expect(more.startsWith(head)).toBe(true);
      expect(more.endsWith(tail)).toBe(true);
      expect(head.length + Number(dropped) + tail.length).toBe(more.length);
      reader.close();
    }));

  test('reports only the rest of a gap when it is already inside it', () =>
    withPlace(async (place) => {
      const reader = outputReader(place);
      const first = numberedLines(0, 30_000);
      writeFileSync(place.output, first);
      expect(text(reader.read())).toBe(first);
      const more = numberedLines(30_000, 90_000);
      appendFileSync(place.output, more);
      await trimOutput(place, LIMIT);
      const [head, dropped, tail] = text(reader.read()).split(MARK) as [string, string, string];
      expect(head).toBe('');
      expect(Number(dropped) + tail.length).toBe(more.length);
      expect(more.endsWith(tail)).toBe(true);
      reader.close();
    }));

  test('notices a gap that appears between two pieces of one read', () =>
    withPlace(async (place) => {
      const whole = numberedLines(0, 60_000);
      writeFileSync(place.output, whole);
      const reader = outputReader(place);
      const pieces = reader.read();
      let seen = Buffer.from(pieces.next().value!).toString('latin1');
      await trimOutput(place, LIMIT);
      seen += text(pieces);
      const [head, dropped, tail] = seen.split(MARK) as [string, string, string];
      expect(whole.startsWith(head)).toBe(true);
      expect(whole.endsWith(tail)).toBe(true);
      expect(head.length + Number(dropped) + tail.length).toBe(whole.length);
      reader.close();
    }));
});
