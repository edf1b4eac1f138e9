import { inTempDir } from '../support/temp-dir.ts';
import type { Fault } from './fault.ts';
import { type Patch, patchedProgram } from './patched.ts';

/** The program without one safeguard, under a fault that needs it. The checker must find a violation. */
export interface Control {
  name: string;
  patches: Patch[];
  fault: Fault;
  scale: number;
  /**
   * One of these kinds must be found. If the list is empty, nothing may be found, because the patch alone is
   * harmless.
   */
  found: string[];
}

/** Returns the kinds of violations that the fault finds in the patched program. */
export async function runControl(control: Control, seed: number): Promise<string[]> {
  return inTempDir(async (directory) => {
    const program = patchedProgram(directory, control.patches);
    const { violations } = await control.fault.run(control.scale, seed, program);
    return [...new Set(violations.map((one) => one.kind))];
  });
}
