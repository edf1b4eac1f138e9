import { setPriority } from 'node:os';

const NICE_VALUE = 5;

/** Lowers the priority of this process, so that workers and jobs on this machine come first. */
export function lowerPriority(): void {
  try {
    setPriority(NICE_VALUE);
  } catch {
    // Without permission, the process keeps its priority.
  }
}
