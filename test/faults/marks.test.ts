import { expect, test } from 'bun:test';
import { CONTROLS } from './controls.ts';
import { markedPlaces, patchAt, patchWithin, placesIn } from './marks.ts';

/** Marks that only f42-races-control.test.ts uses. */
const USED_BY_F42 = ['mark-token'];

test('every mark in the source occurs once and is used by a control', () => {
  const patched = CONTROLS.flatMap(({ patches }) => patches.map(({ from }) => from.split(' ').at(-1)!));
  const names = markedPlaces().map(({ name }) => name);
  expect(names.toSorted()).toEqual([...new Set([...patched, ...USED_BY_F42])].toSorted());
});

test('a mark covers its line, or the whole template literal that ends there', () => {
  const text = 'a();\n  b(); // fault-control: line\nconst C = `x\ny\n`; // fault-control: literal\n';
  expect(placesIn('file.ts', text)).toEqual([
    { name: 'line', file: 'file.ts', code: '  b();' },
    { name: 'literal', file: 'file.ts', code: 'const C = `x\ny\n`;' },
  ]);
});

test('a patch of an unknown mark, or of code that is not at its mark, is refused', () => {
  expect(() => patchAt('no-such-mark', '')).toThrow("src/ has no mark 'no-such-mark'");
  expect(() => patchWithin('watchdog', 'no such code', '')).toThrow("'watchdog' has 0 times: no such code");
});
