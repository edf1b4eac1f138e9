import { onChange } from '../state/wake.ts';
import type { App } from './app.ts';

/** The polling interval while the state directory is watched, in case a wake-up gets lost. */
const POLL_MS = 1000;
/** The polling interval if the state directory cannot be watched. */
const UNWATCHED_POLL_MS = 100;
/** The shortest time between two polls, because something changes all the time on a busy queue. */
const SHORTEST_INTERVAL_MS = 20;

export interface WaitingOptions {
  timeoutMs: number | null;
  /** Ends the wait when it aborts. Its reason is thrown. */
  signal?: AbortSignal | undefined;
}

/** Waits for changes by other processes. */
export interface Waiting {
  /** Resolves when something has changed since the last call, after `ms`, or at the timeout. Throws when the signal aborts. */
  next(ms?: number): Promise<void>;
  /** Tells whether the timeout has passed. */
  readonly over: boolean;
  close(): void;
}

export function startWaiting(app: App, { timeoutMs, signal }: WaitingOptions): Waiting {
  const now = (): number => app.clock.monotonic();
  const end = timeoutMs === null ? Number.POSITIVE_INFINITY : now() + timeoutMs;
  let changed = false;
  let last = Number.NEGATIVE_INFINITY;
  let wakeUp = (): void => {};
  const restMs = (): number => Math.max(0, last + SHORTEST_INTERVAL_MS - now());
  const unwatch = onChange(app.stateDirectory, () => {
    if (changed) return;
    changed = true;
    setTimeout(() => wakeUp(), restMs());
  });
  const stop = (): void => wakeUp();
  signal?.addEventListener('abort', stop);

  return {
    async next(ms = POLL_MS) {
      signal?.throwIfAborted();
      const longest = unwatch === null ? Math.min(ms, UNWATCHED_POLL_MS) : ms;
      await new Promise<void>((resolve) => {
        // The timer keeps the process alive, because the watch does not.
        const remainingMs = Math.max(0, end - now());
        const timer = setTimeout(() => wakeUp(), Math.min(changed ? restMs() : longest, remainingMs));
        wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      changed = false;
      last = now();
      signal?.throwIfAborted();
    },
    get over() {
      return now() >= end;
    },
    close() {
      signal?.removeEventListener('abort', stop);
      unwatch?.();
    },
  };
}
