import { expect, test } from 'bun:test';
import { inTempDir } from '../support/temp-dir.ts';
import { buildClock, clockSteps } from './f09-clock.ts';
import { seedOf } from './figures.ts';
import { patchedProgram } from './patched.ts';

const missing = (await inTempDir(buildClock)) === null ? ' (skipped: no C compiler on Linux)' : '';

test.skipIf(missing !== '')(`F9 negative control: leases by the wall clock expire${missing}`, async () => {
  await inTempDir(async (directory) => {
    const program = patchedProgram(
      directory,
      'worker/recovery.ts',
      "return presence(worker, input.host) === 'gone';",
      'return Date.now() - worker.lastHeartbeat > input.leaseMs;',
    );
    const { violations } = await clockSteps('small', seedOf('F9 control'), program);
    expect(violations.map(({ kind }) => kind)).toContain('lease expired');
  });
});
