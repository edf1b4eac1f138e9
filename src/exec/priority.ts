import { setPriority } from 'node:os';
import { orNull } from '../core/or-null.ts';

const NICE_VALUE = 5;

/** Lowers the priority of this process, so that workers and jobs on this machine come first. */
export function lowerPriority(): void {
  // Without permission, the process keeps its priority.
  orNull(() => setPriority(NICE_VALUE));
}
