import { signal } from '@preact/signals';
import { get, Problem, send } from './api.ts';
import { refresh } from './live.ts';
import { complain } from './toasts.ts';
import type { Operation } from './types.ts';

/** `lost`: the server that did it is gone. */
export type Tracked = Omit<Operation, 'state'> & { state: Operation['state'] | 'lost' };

const LOOK_MS = 400;

/** The operations that this page started, until somebody has seen how they ended. */
export const operations = signal<Tracked[]>([]);

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
      // Whoever is away comes back; a server that was started anew knows nothing of it.
      if (!(error instanceof Problem && error.lasting)) continue;
      operations.value = operations.value.map((one) => (one.id === id ? { ...one, state: 'lost' } : one));
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
