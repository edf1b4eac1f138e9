import { pollUntil } from '../core/time/clock.ts';

/** The pause between two tries. */
const RETRY_PAUSE_MS = 1000;
/** During a pause, `isOver` is called this often. */
const POLL_MS = 50;
const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException | null)?.code);
const DISK_FULL_CODES = ['disk-full', 'ENOSPC'];

/** Workers and supervisors repeat calls of the store themselves, so each call waits only this long for a server. */
export const CALL_TIMEOUT_MS = 1000;

/** Tells whether an error is temporary: the store is busy or cannot be reached, or the disk is full. */
export function isTemporary(error: unknown): boolean {
  return codeOf(error) === 'store-busy' || isUnreachable(error) || DISK_FULL_CODES.includes(codeOf(error));
}

/** Tells whether the server of the store cannot be reached. */
export const isUnreachable = (error: unknown): boolean => codeOf(error) === 'store-unreachable';

export interface RetryOptions {
  /** Is called before the next try if the disk is full. */
  freeSpace?(): Promise<void>;
  /** Is called with the message of a temporary error, unless the previous error had the same message. */
  tell?(message: string): void;
  /** After this time, temporary errors are thrown, too. By default there is no limit. */
  limitMs?: number;
  /** Temporary errors are thrown, too, when this returns true, as after an order to stop. */
  isOver?(): boolean;
}

/** Repeats the work while it fails with a temporary error. Throws any other error. */
export async function withRetries<T>(work: () => Promise<T>, options: RetryOptions = {}): Promise<T> {
  const { freeSpace, tell, limitMs = Number.POSITIVE_INFINITY, isOver = () => false } = options;
  const deadline = performance.now() + limitMs;
  let lastMessage = '';
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const { message } = error as Error;
      if (!isTemporary(error) || isOver() || performance.now() >= deadline) throw error;
      if (message !== lastMessage) tell?.(message);
      lastMessage = message;
      if (DISK_FULL_CODES.includes(codeOf(error))) await freeSpace?.();
      await pollUntil(isOver, POLL_MS, RETRY_PAUSE_MS);
    }
  }
}
