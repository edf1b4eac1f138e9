import { pause } from '../core/clock.ts';
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

export interface Patience {
  /** Called on a full disk before it is tried again. */
  relieve?(): Promise<void>;
  /** Called with what stands in the way, once for each such thing. */
  tell?(message: string): void;
  /** After so long the error that may pass is final. */
  limitMs?: number;
}

/** Does it again until it is done, or fails for good. */
export async function patiently<T>(work: () => Promise<T>, patience: Patience = {}): Promise<T> {
  const { relieve, tell, limitMs = Number.POSITIVE_INFINITY } = patience;
  const end = performance.now() + limitMs;
  let told = '';
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const { message } = error as Error;
      if (!mayPass(error) || performance.now() >= end) throw error;
      if (message !== told) tell?.(message);
      told = message;
      if (hasNoRoom(error)) await relieve?.();
      await pause(PAUSE_MS);
    }
  }
}
