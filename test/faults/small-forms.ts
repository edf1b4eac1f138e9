import { expect, test } from 'bun:test';
import { FAULTS } from './catalogue.ts';
import { numberOf } from './fault.ts';
import { seedOf } from './seed.ts';

const LIMIT_MS = 115_000;

/** Tests the faults with these numbers in their small form. */
export async function testSmallForms(first: number, last: number): Promise<void> {
  for (const fault of FAULTS.filter((one) => numberOf(one) >= first && numberOf(one) <= last)) {
    const missing = (await fault.missing?.()) ?? null;
    const name = `${fault.id}: ${fault.title}${missing === null ? '' : ` (skipped: ${missing})`}`;
    const body = async () => {
      const { violations } = await fault.run(fault.small, seedOf(fault.id));
      expect(violations).toEqual([]);
    };
    test.skipIf(missing !== null)(name, body, LIMIT_MS);
  }
}
