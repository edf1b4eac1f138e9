import { inTempDir } from '../support/temp-dir.ts';
import type { Fault } from './fault.ts';
import { type Patch, patchedProgram } from './patched.ts';

/** The program with one safeguard taken out, under a fault that it is there for: the checker must notice. */
export interface Control {
  name: string;
  patches: Patch[];
  fault: Fault;
  scale: number;
  /** One of these must be found. Empty: nothing may be found, the patch alone is harmless. */
  found: string[];
}

/** What the fault finds in the patched program. */
export async function runControl(control: Control, seed: number): Promise<string[]> {
  return inTempDir(async (directory) => {
    const program = patchedProgram(directory, control.patches);
    const { violations } = await control.fault.run(control.scale, seed, program);
    return [...new Set(violations.map((one) => one.kind))];
  });
}
