import { expect, test } from 'bun:test';
import { seedOf } from './figures.ts';
import { SPECIAL_FAULTS } from './special.ts';

for (const fault of SPECIAL_FAULTS) {
  const missing = await fault.missing();
  const title = `${fault.id}: ${fault.title}${missing === null ? '' : ` (skipped: ${missing})`}`;
  test.skipIf(missing !== null)(title, async () => {
    const { violations, faults } = await fault.run('small', seedOf(fault.id));
    expect(violations).toEqual([]);
    expect(faults).toBeGreaterThan(0);
  });
}
