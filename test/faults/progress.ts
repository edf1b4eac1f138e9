/** Holds the progress of the running fault. The rounds update it, and main.ts prints it. */
let now = { done: 0, all: 0 };

export function startProgress(all: number): void {
  now = { done: 0, all };
}

export function roundDone(): void {
  now.done++;
}

export function progress(): string {
  return now.all === 0 ? 'no rounds to count' : `${now.done} of ${now.all} rounds`;
}
