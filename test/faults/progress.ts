/** How far the fault that runs has come: told by the one who plays its rounds, asked for by whoever waits for hours. */
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
