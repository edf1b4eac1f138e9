import { describe, expect, test } from 'bun:test';
import { appendFileSync, writeFileSync } from 'node:fs';
import { trimOutput } from '../../src/exec/trim.ts';
import { removeFiles } from '../../src/state/attempt-files.ts';
import { collectOutput } from '../../src/state/output.ts';
import { outputReader } from '../../src/state/output-reader.ts';
import { numberedLines, withAttemptFiles } from '../support/attempt-files.ts';

const LIMIT = 64 * 1024;
const MARK = /\n\[queuectl: (\d+) bytes of output dropped here\]\n/;

function text(pieces: Iterable<Uint8Array>): string {
  return Buffer.concat([...pieces]).toString('latin1');
}

describe('a reader of growing output', () => {
  test('returns each byte once, from before the file exists until after it is removed', () =>
    withAttemptFiles((files) => {
      const reader = outputReader(files);
      expect(text(reader.read())).toBe('');
      expect(reader.opened).toBe(false);
      writeFileSync(files.output, 'one\ntw');
      expect(text(reader.read())).toBe('one\ntw');
      expect(text(reader.read())).toBe('');
      appendFileSync(files.output, 'o\nthree\n');
      collectOutput(files, LIMIT);
      removeFiles(files);
      expect(text(reader.read())).toBe('o\nthree\n');
      expect(reader.opened).toBe(true);
      reader.close();
    }));

  test('loses nothing if it keeps up while the file is trimmed and shortened', () =>
    withAttemptFiles(async (files) => {
      const reader = outputReader(files);
      let seen = '';
      let whole = '';
      writeFileSync(files.output, '');
      for (let round = 0; round < 6; round++) {
        const more = numberedLines(round * 20_000, (round + 1) * 20_000);
        appendFileSync(files.output, more);
        whole += more;
        seen += text(reader.read());
        await trimOutput(files, LIMIT);
      }
      appendFileSync(files.output, 'the end\n');
      expect(collectOutput(files, LIMIT).truncated).toBe(true);
      seen += text(reader.read());
      expect(seen === `${whole}the end\n`).toBe(true);
      reader.close();
    }));

  test('reports how much it missed when it falls behind, and never reads a hole', () =>
    withAttemptFiles(async (files) => {
      const reader = outputReader(files);
      const first = numberedLines(0, 1000);
      writeFileSync(files.output, first);
      expect(text(reader.read())).toBe(first);
      const more = numberedLines(1000, 60_000);
      appendFileSync(files.output, more);
      await trimOutput(files, LIMIT);
      const [head, dropped, tail] = text(reader.read()).split(MARK) as [string, string, string];
      expect(more.startsWith(head)).toBe(true);
      expect(more.endsWith(tail)).toBe(true);
      expect(head.length + Number(dropped) + tail.length).toBe(more.length);
      reader.close();
    }));

  test('reports only the rest of a gap when it is already inside it', () =>
    withAttemptFiles(async (files) => {
      const reader = outputReader(files);
      const first = numberedLines(0, 30_000);
      writeFileSync(files.output, first);
      expect(text(reader.read())).toBe(first);
      const more = numberedLines(30_000, 90_000);
      appendFileSync(files.output, more);
      await trimOutput(files, LIMIT);
      const [head, dropped, tail] = text(reader.read()).split(MARK) as [string, string, string];
      expect(head).toBe('');
      expect(Number(dropped) + tail.length).toBe(more.length);
      expect(more.endsWith(tail)).toBe(true);
      reader.close();
    }));

  test('notices a gap that appears between two pieces of one read', () =>
    withAttemptFiles(async (files) => {
      const whole = numberedLines(0, 60_000);
      writeFileSync(files.output, whole);
      const reader = outputReader(files);
      const pieces = reader.read();
      let seen = Buffer.from(pieces.next().value!).toString('latin1');
      await trimOutput(files, LIMIT);
      seen += text(pieces);
      const [head, dropped, tail] = seen.split(MARK) as [string, string, string];
      expect(whole.startsWith(head)).toBe(true);
      expect(whole.endsWith(tail)).toBe(true);
      expect(head.length + Number(dropped) + tail.length).toBe(whole.length);
      reader.close();
    }));
});
