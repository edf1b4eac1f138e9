import { expect, test } from 'bun:test';
import { inTempDir } from '../support/temp-dir.ts';
import { powerCut } from './f13-power-cut.ts';
import { seedOf } from './figures.ts';
import { patchedProgram } from './patched.ts';
import { hasTool } from './syscalls.ts';

const missing = hasTool('strace') ? '' : ' (skipped: no strace)';

test.skipIf(missing !== '')(
  `F13: a power cut at any system call loses nothing acknowledged${missing}`,
  async () => {
    const { violations, faults } = await powerCut('small', seedOf('F13'));
    expect(violations).toEqual([]);
    expect(faults).toBeGreaterThan(200);
  },
);

test.skipIf(missing !== '')(
  `F13 negative control: synchronous=NORMAL loses acknowledged jobs${missing}`,
  async () => {
    await inTempDir(async (directory) => {
      const program = patchedProgram(
        directory,
        'store/sqlite/connection.ts',
        'PRAGMA synchronous = FULL',
        'PRAGMA synchronous = NORMAL',
      );
      const { violations } = await powerCut('small', seedOf('F13 control'), program);
      expect(violations.filter(({ kind }) => kind === 'lost')).not.toEqual([]);
      expect(violations.filter(({ kind }) => kind === 'corrupt')).toEqual([]);
    });
  },
);
