import { expect, test } from 'bun:test';
import type { Io } from '../../src/cli/frame/io.ts';
import { startProgress } from '../../src/cli/print/progress.ts';

/** Reports progress every 100 ms for `seconds`. Returns the output and the times in ms at which it was written. */
function printProgress(io: Partial<Io>, seconds: number): { printed: string[]; times: number[] } {
  const printed: string[] = [];
  const times: number[] = [];
  let now = 0;
  const progress = startProgress(
    { ...io, errBytes: (data: Uint8Array) => printed.push(Buffer.from(data).toString()) } as unknown as Io,
    () => now,
  );
  for (; now <= seconds * 1000; now += 100) {
    const before = printed.length;
    progress.update(() => `at ${now}`);
    if (printed.length > before) times.push(now);
  }
  progress.end();
  return { printed, times };
}

test('on a terminal progress appears after 200 ms in one line, which is erased at the end', () => {
  const { printed, times } = printProgress({ errTty: true }, 1);
  expect(times).toEqual([200, 300, 400, 500, 600, 700, 800, 900, 1000]);
  expect(printed[0]).toBe('\rat 200\x1b[K');
  expect(printed.at(-1)).toBe('\r\x1b[K');
});

test('nothing is printed for a quick operation', () => {
  expect(printProgress({ errTty: true }, 0.1).printed).toEqual([]);
});

test('in a log one line is printed every ten seconds', () => {
  expect(printProgress({ errTty: false }, 35)).toEqual({
    printed: ['at 10000\n', 'at 20000\n', 'at 30000\n'],
    times: [10_000, 20_000, 30_000],
  });
});

test('nothing is printed with --quiet or --json', () => {
  for (const errTty of [true, false]) {
    expect(printProgress({ errTty, quiet: true }, 35).printed).toEqual([]);
    expect(printProgress({ errTty, json: true }, 35).printed).toEqual([]);
  }
});
