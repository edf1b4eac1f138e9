import { expect, test } from 'bun:test';
import { ioErrors } from './f17-io-errors.ts';
import { seedOf } from './figures.ts';
import { hasTool } from './syscalls.ts';

const missing = hasTool('strace') ? '' : ' (skipped: no strace)';

test.skipIf(missing !== '')(
  `F17: input/output errors: no false acknowledgement, workers fail-stop, all jobs run once${missing}`,
  async () => {
    const { violations, faults } = await ioErrors('small', seedOf('F17'));
    expect(violations).toEqual([]);
    expect(faults).toBeGreaterThan(0);
  },
);
