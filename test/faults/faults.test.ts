import { expect, test } from 'bun:test';
import { FAULTS } from './catalogue.ts';

const LIMIT_MS = 115_000;

for (const fault of FAULTS) {
  const missing = (await fault.missing?.()) ?? null;
  const name = `${fault.id}: ${fault.title}${missing === null ? '' : ` (skipped: ${missing})`}`;
  const body = async () => {
    const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32));
    console.info(`${fault.id}: TEST_SEED=${seed}`);
    const { violations } = await fault.run(fault.small, seed);
    expect(violations).toEqual([]);
  };
  test.skipIf(missing !== null)(name, body, LIMIT_MS);
}
