import { expect, test } from 'bun:test';
import { runControl } from './control.ts';
import { CONTROLS } from './controls.ts';

const LIMIT_MS = 115_000;

for (const control of CONTROLS) {
  const body = async () => {
    const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32));
    console.info(`${control.name}: TEST_SEED=${seed}`);
    const kinds = await runControl(control, seed);
    if (control.found.length === 0) expect(kinds).toEqual([]);
    else expect(kinds.filter((kind) => control.found.includes(kind))).not.toEqual([]);
  };
  test(`control: ${control.name}`, body, LIMIT_MS);
}
