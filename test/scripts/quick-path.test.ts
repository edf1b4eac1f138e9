import { expect, test } from 'bun:test';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import * as quick from '../../scripts/quick-path.ts';

/** Generates paths with all that can be special in them. */
const somePath = fc
  .array(fc.constantFrom('/', '//', '.', '..', 'a', 'queue.db', 'Größe', ' ', '...'), { maxLength: 7 })
  .map((parts) => parts.join(''));

test('the quick path functions return what node:path returns', () => {
  fc.assert(
    fc.property(somePath, somePath, (one, two) => {
      const results = (from: Pick<typeof path, keyof typeof quick>): unknown => [
        from.isAbsolute(one),
        from.join(one, two),
        from.join(one),
        from.resolve(one, two),
        from.resolve(one),
        from.dirname(one),
        from.basename(one),
        from.basename(one, '.db'),
        from.extname(one),
      ];
      expect({ one, two, results: results(quick) }).toEqual({ one, two, results: results(path) });
    }),
    { numRuns: 5000 },
  );
});

test('a relative path is resolved as by node:path, also in a directory that was removed', () => {
  const before = process.cwd();
  const directory = mkdtempSync(path.join(tmpdir(), 'queuectl-test-'));
  try {
    process.chdir(directory);
    rmdirSync(directory);
    expect(quick.resolve('a', '../b')).toBe(path.resolve('a', '../b'));
  } finally {
    process.chdir(before);
  }
});
