import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { inTempDir } from '../support/temp-dir.ts';
import { raceIn } from './f42-races.ts';
import { patchWithin } from './marks.ts';
import { patchSource } from './patched.ts';
import { seedOf } from './seed.ts';

/** This is enough to find the violation for certain. The first one ends the run. */
const TRIES = 5000;
/** Each of these marked statements loses its token and keeps the number of its parameters. */
const STATEMENTS = { settle: 'settle-token', adopt: 'adopt-token', mark: 'mark-token' };

for (const [verb, mark] of Object.entries(STATEMENTS)) {
  test(`F42 negative control: ${verb} without the token is found`, async () => {
    await inTempDir(async (directory) => {
      const source = patchSource(directory, [patchWithin(mark, 'AND token = ? AND', 'AND ? AND')]);
      const { openSqlite } = await import(join(source, 'src/store/sqlite/open.ts'));
      const { violations } = await raceIn(openSqlite, TRIES, seedOf(`F42 ${verb} control`));
      expect(violations.map(({ kind }) => kind)).toEqual(['race']);
    });
  });
}
