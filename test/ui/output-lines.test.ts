import { expect, test } from 'bun:test';
import { createAnsi } from '../../ui/output/ansi.ts';
import { createCounter, createCutter, rowsOf, textOf } from '../../ui/output/output-lines.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test('lines are assembled from chunks, with their numbers and byte offsets', () => {
  const cutter = createCutter(0, 1);
  const lines = [...cutter.add(bytes('añ\nse')), ...cutter.add(bytes('cond\r\nthi'))];
  expect(lines.map((line) => [line.number, line.offset, textOf(line)])).toEqual([
    [1, 0, 'añ'],
    [2, 4, 'second'],
  ]);
  expect(textOf(cutter.open()!)).toBe('thi');
});

test('only the last state of a progress bar is shown', () => {
  expect(textOf(createCutter(0, 1).add(bytes('10 %\r50 %\r100 %\n'))[0]!)).toBe('100 %');
  for (const [output, shown] of [
    ['fetching\x1b[2K\r10 %\r\x1b[Kdone', 'done'],
    ['10 %\r\x1b[K', ''],
    ['10 %\x1b[2K', ''],
    ['10 %\x1b[1K done', ' done'],
    ['10 %\x1b[0K done\x1b[K', '10 % done'],
  ] as const) {
    expect(textOf(createCutter(0, 1).add(bytes(`${output}\n`))[0]!)).toBe(shown);
    const open = createCutter(0, 1);
    open.add(bytes(output));
    expect(textOf(open.open()!)).toBe(shown);
  }
});

test('colours become styles that continue on the next line, and other escapes are shown as text or removed', () => {
  const paint = createAnsi();
  expect(paint('\x1b[1;31mbad\x1b[0m ok')).toEqual([
    { text: 'bad', look: 'ansi-1 ansi-bold' },
    { text: ' ok', look: '' },
  ]);
  expect(paint('a\x1b[32m')).toEqual([{ text: 'a', look: '' }]);
  expect(paint('b')).toEqual([{ text: 'b', look: 'ansi-2' }]);
  expect(paint('\x1b[0m\x1b[2Jc').map(({ text }) => text)).toEqual(['^[', '[2Jc']);
  expect(paint('\x1b[38;5;196mx\x1b[48;2;0;0;255my')[0]!.look).toBe('ansi-9');
  expect(
    paint('\x1b[0mno\x1b[Krest')
      .map(({ text }) => text)
      .join(''),
  ).toBe('norest');
});

test('a line that is too long becomes several rows and loses nothing', () => {
  const [line] = createCutter(0, 1).add(bytes(`\x1b[31m${'x'.repeat(50)}\x1b[0m${'y'.repeat(25)}\n`));
  const rows = rowsOf([line!], 30);
  expect(rows.map((row) => row.pieces.reduce((sum, { text }) => sum + text.length, 0))).toEqual([30, 30, 15]);
  expect(rows.map((row) => row.first)).toEqual([true, false, false]);
  expect(rows.flatMap((row) => row.pieces.map(({ text }) => text)).join('')).toBe(textOf(line!));
});

test('a line is found by its number across chunks, with 200 lines before it', () => {
  const text = Array.from({ length: 1000 }, (_, i) => `line ${i + 1}\n`).join('');
  const find = (wanted: number, stretch: number) => {
    const count = createCounter(wanted);
    for (let at = 0; at < text.length; at += stretch) {
      const found = count(bytes(text.slice(at, at + stretch)));
      if (found !== null) return [found.number, text.slice(found.offset).split('\n')[0]];
    }
    return null;
  };
  for (const stretch of [1, 7, 100, 1e6]) {
    expect(find(1, stretch)).toEqual([1, 'line 1']);
    expect(find(150, stretch)).toEqual([1, 'line 1']);
    expect(find(900, stretch)).toEqual([700, 'line 700']);
    expect(find(1000, stretch)).toEqual([800, 'line 800']);
    expect(find(1001, stretch)).toBeNull();
  }
});
