import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { inTempDir } from '../support/temp-dir.ts';
import { raceIn } from './f42-races.ts';
import { patchSource } from './patched.ts';
import { seedOf } from './seed.ts';

/** This is enough to find the violation for certain. The first one ends the run. */
const TRIES = 5000;
/** Each control removes the token from one statement and keeps the number of its parameters. */
const CONTROLS = {
  settle: [
    'bytes = bytes + ?\n  WHERE number = ? AND token = ? AND',
    'bytes = bytes + ?\n  WHERE number = ? AND ? AND',
  ],
  adopt: ['worker_id = ? WHERE number = ? AND token = ? AND', 'worker_id = ? WHERE number = ? AND ? AND'],
  mark: [
    'WHERE number = ? AND token = ? AND finished_at IS NULL`',
    'WHERE number = ? AND ? AND finished_at IS NULL`',
  ],
} as const;

for (const [verb, [from, to]] of Object.entries(CONTROLS)) {
  test(`F42 negative control: ${verb} without the token is found`, async () => {
    await inTempDir(async (directory) => {
      const source = patchSource(directory, [{ file: 'store/sqlite/sql/claims.ts', from, to }]);
      const { openSqlite } = await import(join(source, 'src/store/sqlite/open.ts'));
      const { violations } = await raceIn(openSqlite, TRIES, seedOf(`F42 ${verb} control`));
      expect(violations.map(({ kind }) => kind)).toEqual(['race']);
    });
  });
}
