import { expect, test } from 'bun:test';
import { runControl } from './control.ts';
import { CONTROLS } from './controls.ts';
import { numberOf } from './fault.ts';
import { seedOf } from './seed.ts';

const LIMIT_MS = 115_000;

/** Tests the controls of the faults with these numbers. Several files call this, so that they run in parallel. */
export async function testControls(first: number, last: number): Promise<void> {
  for (const control of CONTROLS) {
    if (numberOf(control.fault) < first || numberOf(control.fault) > last) continue;
    const missing = (await control.fault.missing?.()) ?? null;
    const name = `control: ${control.name}${missing === null ? '' : ` (skipped: ${missing})`}`;
    const body = async () => {
      const kinds = await runControl(control, seedOf(control.name));
      if (control.expected.length === 0) expect(kinds).toEqual([]);
      else expect(kinds.filter((kind) => control.expected.includes(kind))).not.toEqual([]);
    };
    test.skipIf(missing !== null)(name, body, LIMIT_MS);
  }
}
