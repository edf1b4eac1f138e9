import { expect, test } from 'bun:test';
import { output } from './f25-output.ts';
import { seedOf } from './figures.ts';

const missing = process.platform === 'linux' ? '' : ' (skipped: no /proc)';

test.skipIf(missing !== '')(
  `F25: floods of output neither stop a job nor fill the worker, and the log is true${missing}`,
  async () => {
    const { violations } = await output('small', seedOf('F25'));
    expect(violations).toEqual([]);
  },
);
