import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { inTempDir } from '../support/temp-dir.ts';
import { raceStore } from './f42-races.ts';
import { patchWithin } from './marks.ts';
import { patchSource } from './patched-source.ts';
import { seedOf } from './seed.ts';

/** The race test runs at most this many interleavings, and ends at the first violation. */
const MAX_RUNS = 5000;
/** Maps verbs to the mark of their SQL. The test removes the check of the token there, but keeps the parameter. */
const TOKEN_CHECKS = {
  settle: ['settle-token', '?'],
  adopt: ['adopt-token', '$3'],
  mark: ['mark-token', '$3'],
} as const;

for (const [verb, [mark, token]] of Object.entries(TOKEN_CHECKS)) {
  test(`F42 negative control: the race test finds that ${verb} does not check the token`, async () => {
    await inTempDir(async (directory) => {
      const source = patchSource(directory, [
        patchWithin(mark, `AND token = ${token} AND`, `AND ${token} AND`),
      ]);
      const { openSqlite } = await import(join(source, 'src/store/sqlite/open.ts'));
      const { violations } = await raceStore(openSqlite, MAX_RUNS, seedOf(`F42 ${verb} control`));
      expect(violations.map(({ kind }) => kind)).toEqual(['race']);
    });
  });
}
