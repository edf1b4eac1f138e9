import type { Problem } from './api.ts';
import { connection, refresh } from './live.ts';
import { mounted } from './mount.ts';

const ASK_MS = 2000;
let waitingForStore = false;

/** Handles a failed read. If the server cannot read its store, asks until it can, then reads everything again. */
export function readFailed({ away }: Problem): void {
  if (away !== 'store-away') return;
  connection.value = 'store-away';
  if (waitingForStore) return;
  waitingForStore = true;
  void waitForStore();
}

async function waitForStore(): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, ASK_MS));
    const ready = await fetch(mounted('/readyz')).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) break;
  }
  waitingForStore = false;
  refresh();
}

export function readWorked(): void {
  if (connection.value === 'store-away' && !waitingForStore) connection.value = 'live';
}
