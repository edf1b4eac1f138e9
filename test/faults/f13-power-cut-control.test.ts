import { expect, test } from 'bun:test';
import { inTempDir } from '../support/temp-dir.ts';
import { powerCut } from './f13-power-cut.ts';
import { seedOf } from './figures.ts';
import { patchedProgram } from './patched.ts';
import { hasTool } from './syscalls.ts';

const missing = hasTool('strace') ? '' : ' (skipped: no strace)';

const CONTROLS = {
  'synchronous=NORMAL': [
    'store/sqlite/connection.ts',
    'PRAGMA synchronous = FULL',
    'PRAGMA synchronous = NORMAL',
  ],
  'a store whose directories are not synced': [
    'store/sqlite/open.ts',
    'if (stat.size === 0) syncDirectories(path);',
    '',
  ],
} as const;

for (const [name, [file, from, to]] of Object.entries(CONTROLS)) {
  test.skipIf(missing !== '')(`F13 negative control: ${name} loses acknowledged jobs${missing}`, () =>
    inTempDir(async (directory) => {
      const program = patchedProgram(directory, file, from, to);
      const { violations } = await powerCut('small', seedOf('F13 control'), program);
      const kinds = new Set(violations.map(({ kind }) => kind));
      expect([...kinds]).toEqual(['lost']);
    }),
  );
}
