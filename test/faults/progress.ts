/** Holds the progress of the running fault. The rounds update it, and main.ts prints it. */
let counts = { done: 0, total: 0 };

export function startProgress(total: number): void {
  counts = { done: 0, total };
}

export function roundDone(): void {
  counts.done++;
}

export function progressText(): string {
  return counts.total === 0 ? 'no rounds to count' : `${counts.done} of ${counts.total} rounds`;
}
