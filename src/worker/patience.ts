import { QueueError } from '../core/errors.ts';

const PAUSE_MS = 1000;

/** Errors that go away by themselves: a lock that is held long, a disk that is full. */
export function mayPass(error: unknown): boolean {
  if (error instanceof QueueError) return error.code === 'store-busy' || error.code === 'disk-full';
  return (error as NodeJS.ErrnoException | null)?.code === 'ENOSPC';
}

function hasNoRoom(error: unknown): boolean {
  return !(error instanceof QueueError && error.code === 'store-busy');
}

/** Does it again until it is done, or fails for good. On a full disk `relieve` is called before it is tried again. */
export async function patiently<T>(work: () => Promise<T>, relieve?: () => Promise<void>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!mayPass(error)) throw error;
      if (hasNoRoom(error)) await relieve?.();
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
