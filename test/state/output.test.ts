import { describe, expect, test } from 'bun:test';
import { appendFileSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { trimOutput } from '../../src/exec/trim.ts';
import type { AttemptFiles } from '../../src/state/attempt-files.ts';
import { collectOutput, outputPieces, readGap } from '../../src/state/output.ts';
import { numberedLines, withAttemptFiles } from '../support/attempt-files.ts';

const LIMIT = 64 * 1024;

function readAll(files: AttemptFiles): string {
  return Buffer.concat([...outputPieces(files)]).toString('latin1');
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
    withAttemptFiles((files) => {
      writeFileSync(files.output, 'one\ntwo\n');
      const collected = collectOutput(files, LIMIT);
      expect(collected).toMatchObject({ bytes: 8, truncated: false, tail: 'one\ntwo\n' });
      expect(Buffer.from(collected.kept!).toString()).toBe('one\ntwo\n');
    }));

  test('a missing file counts as empty output', () =>
    withAttemptFiles((files) => {
      expect(collectOutput(files, LIMIT)).toEqual({ bytes: 0, truncated: false, kept: null, tail: '' });
      expect(readAll(files)).toBe('');
    }));

  test('longer output stays in its file', () =>
    withAttemptFiles((files) => {
      const text = numberedLines(0, 2000);
      writeFileSync(files.output, text);
      expect(collectOutput(files, LIMIT)).toMatchObject({ bytes: text.length, truncated: false, kept: null });
      expect(readAll(files)).toBe(text);
    }));

  test('output above the limit is shortened to head, mark and tail', () =>
    withAttemptFiles((files) => {
      const text = numberedLines(0, 50_000);
      writeFileSync(files.output, text);
      expect(collectOutput(files, LIMIT)).toMatchObject({ bytes: text.length, truncated: true, kept: null });
      expect(statSync(`${files.output}.short`).size).toBeLessThan(LIMIT + 200);
      expect(existsSync(files.output)).toBe(false);
      expectHeadAndTail(readAll(files), text);
    }));

  test('a growing file is trimmed repeatedly, stays readable, and keeps its head and tail', () =>
    withAttemptFiles(async (files) => {
      let text = '';
      writeFileSync(files.output, '');
      for (let round = 0; round < 6; round++) {
        const more = numberedLines(round * 20_000, (round + 1) * 20_000);
        appendFileSync(files.output, more);
        text += more;
        await trimOutput(files, LIMIT);
        expect(readGap(files)).not.toBeNull();
        expectHeadAndTail(readAll(files), text);
      }
      // The trimmed part is freed on the disk although the size of the file keeps growing.
      expect(statSync(files.output).size).toBe(text.length);
      expect(statSync(files.output).blocks * 512).toBeLessThan(3 * LIMIT);
      expect(collectOutput(files, LIMIT)).toMatchObject({ bytes: text.length, truncated: true });
      expectHeadAndTail(readAll(files), text);
      // After a crash before the settlement, the next worker collects the output again with the same result.
      expect(collectOutput(files, LIMIT)).toMatchObject({ bytes: text.length, truncated: true });
    }));
});
