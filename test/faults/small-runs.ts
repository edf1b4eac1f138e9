import { expect, test } from 'bun:test';
import { FAULTS } from './catalogue.ts';
import { numberOf } from './fault.ts';
import { seedOf } from './seed.ts';

const LIMIT_MS = 115_000;

/** Tests the faults numbered from `first` to `last` at their small scale. Several files share this work. */
export async function testSmallRuns(first: number, last: number): Promise<void> {
  for (const fault of FAULTS.filter((one) => numberOf(one) >= first && numberOf(one) <= last)) {
    const whySkipped = (await fault.whySkipped?.()) ?? null;
    const name = `${fault.id}: ${fault.title}${whySkipped === null ? '' : ` (skipped: ${whySkipped})`}`;
    const body = async () => {
      const { violations } = await fault.run(fault.small, seedOf(fault.id));
      expect(violations).toEqual([]);
    };
    test.skipIf(whySkipped !== null)(name, body, LIMIT_MS);
  }
}
