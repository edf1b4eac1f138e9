import { setPriority } from 'node:os';

const A_LITTLE = 5;

/** Lowers the priority of this process, so that workers and jobs of this machine come first. */
export function stepBack(): void {
  try {
    setPriority(A_LITTLE);
  } catch {
    // Without the permission it keeps its priority.
  }
}
