import { signal } from '@preact/signals';
import { notifyError } from '../parts/toasts.ts';
import type { Operation } from '../types.ts';
import { get, Problem, send } from './api.ts';
import { refresh } from './live.ts';

/** A bulk action. `lost` means that the server that ran it is gone. */
export type Tracked = Omit<Operation, 'state'> & { state: Operation['state'] | 'lost' };

const LOOK_MS = 400;

/** Bulk actions that this page started, until the user dismisses them. */
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
      // A server that cannot be reached may come back. One that was restarted no longer has the operation.
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
    notifyError(error);
  }
}

export function drop(id: string): void {
  operations.value = operations.value.filter((one) => one.id !== id);
}
