import { inTempDir } from '../support/temp-dir.ts';
import type { Fault } from './fault.ts';
import { type Patch, patchedProgram } from './patched-source.ts';

/** A patched program, which usually lacks a safeguard, and a fault that the real program withstands. */
export interface Control {
  name: string;
  patches: Patch[];
  fault: Fault;
  /** The scale at which the fault runs. */
  scale: number;
  /** The fault must find at least one of these kinds of violations, or no violation if the list is empty. */
  expected: string[];
}

/** Returns the kinds of violations that the fault finds in the patched program. */
export async function runControl(control: Control, seed: number): Promise<string[]> {
  return inTempDir(async (directory) => {
    const program = patchedProgram(directory, control.patches);
    const { violations } = await control.fault.run(control.scale, seed, program);
    return [...new Set(violations.map((one) => one.kind))];
  });
}
