import { pause } from '../core/clock.ts';

const PAUSE_MS = 1000;

const TEMPORARY = ['store-busy', 'disk-full', 'ENOSPC'];

/** Tells whether an error is temporary: the store is busy, or the disk is full. */
export function isTemporary(error: unknown): boolean {
  return TEMPORARY.includes(codeOf(error));
}

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException | null)?.code);

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
  let lastMessage = '';
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const { message } = error as Error;
      if (!isTemporary(error) || performance.now() >= end) throw error;
      if (message !== lastMessage) tell?.(message);
      lastMessage = message;
      if (codeOf(error) !== 'store-busy') await relieve?.();
      await pause(PAUSE_MS);
    }
  }
}
