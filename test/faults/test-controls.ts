import { expect, test } from 'bun:test';
import { runControl } from './control.ts';
import { CONTROLS } from './controls.ts';
import { numberOf } from './fault.ts';
import { seedOf } from './seed.ts';

const LIMIT_MS = 115_000;

/** Tests the controls of the faults numbered from `first` to `last`. Several files share this work. */
export async function testControls(first: number, last: number): Promise<void> {
  for (const control of CONTROLS) {
    if (numberOf(control.fault) < first || numberOf(control.fault) > last) continue;
    const whySkipped = (await control.fault.whySkipped?.()) ?? null;
    const name = `control: ${control.name}${whySkipped === null ? '' : ` (skipped: ${whySkipped})`}`;
    const body = async () => {
      const kinds = await runControl(control, seedOf(control.name));
      if (control.expected.length === 0) expect(kinds).toEqual([]);
      else expect(kinds.filter((kind) => control.expected.includes(kind))).not.toEqual([]);
    };
    test.skipIf(whySkipped !== null)(name, body, LIMIT_MS);
  }
}
