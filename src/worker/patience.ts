import { QueueError } from '../core/errors.ts';

const PAUSE_MS = 1000;

/** Errors that go away by themselves: a lock that is held long, a disk that is full. */
export function mayPass(error: unknown): boolean {
  if (error instanceof QueueError) return error.code === 'store-busy' || error.code === 'disk-full';
  return (error as NodeJS.ErrnoException | null)?.code === 'ENOSPC';
}

/** Does it again until it is done, or fails for good. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!mayPass(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
