import { pause } from '../core/clock.ts';
import { QueueError } from '../core/errors.ts';

const PAUSE_MS = 1000;

/** Tells whether an error is temporary: the store is busy, or the disk is full. */
export function mayPass(error: unknown): boolean {
  if (error instanceof QueueError) return error.code === 'store-busy' || error.code === 'disk-full';
  return (error as NodeJS.ErrnoException | null)?.code === 'ENOSPC';
}

function hasNoRoom(error: unknown): boolean {
  return !(error instanceof QueueError && error.code === 'store-busy');
}

export interface Patience {
  /** Is called on a full disk before the next try. */
  relieve?(): Promise<void>;
  /** Is called with the message of an error, unless it is the same as before. */
  tell?(message: string): void;
  /** How long temporary errors are retried. */
  limitMs?: number;
}

/** Repeats the work until it succeeds, or throws an error that is not temporary. */
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
