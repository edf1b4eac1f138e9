import { setPriority } from 'node:os';

const A_LITTLE = 5;

/** Workers and jobs of this machine come first: whoever looks on can wait a moment. */
export function stepBack(): void {
  try {
    setPriority(A_LITTLE);
  } catch {
    // Then they share.
  }
}
