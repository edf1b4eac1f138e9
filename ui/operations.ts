import { signal } from '@preact/signals';
import { get, send } from './api.ts';
import { refresh } from './live.ts';
import { complain } from './toasts.ts';
import type { Operation } from './types.ts';

const LOOK_MS = 400;

/** The operations that this page started, until somebody has seen how they ended. */
export const operations = signal<Operation[]>([]);

export function track(operation: Operation): void {
  operations.value = [...operations.value, operation];
  void watch(operation.id);
}

async function watch(id: string): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    try {
      const now = await get<Operation>(`/operations/${id}`);
      operations.value = operations.value.map((one) => (one.id === id ? now : one));
      if (now.state !== 'running') break;
    } catch (error) {
      // A server that was started anew knows nothing of it.
      complain(error);
      drop(id);
      break;
    }
  }
  refresh();
}

export async function stop(id: string): Promise<void> {
  try {
    await send('DELETE', `/operations/${id}`);
  } catch (error) {
    complain(error);
  }
}

export function drop(id: string): void {
  operations.value = operations.value.filter((one) => one.id !== id);
}
