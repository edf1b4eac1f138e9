import { onChange } from '../state/wake.ts';
import type { App } from './app.ts';

/** Polls this often even if nothing seems to change, in case a wake-up gets lost. */
const SAFETY_MS = 1000;
/** Polls this often if the state directory cannot be watched. */
const UNWATCHED_MS = 100;
/** The shortest time between two polls, because something changes all the time on a busy queue. */
const CALM_MS = 20;

export interface WaitingOptions {
  timeoutMs: number | null;
  /** Ends the waiting. Its reason is thrown. */
  signal?: AbortSignal | undefined;
}

/** Waits for changes by other processes. */
export interface Waiting {
  /** Resolves when something has changed since the last call, or after this time. Throws when the signal aborts. */
  next(ms?: number): Promise<void>;
  /** The time is up. */
  readonly over: boolean;
  close(): void;
}

export function startWaiting(app: App, { timeoutMs, signal }: WaitingOptions): Waiting {
  const now = (): number => app.clock.monotonic();
  const end = timeoutMs === null ? Number.POSITIVE_INFINITY : now() + timeoutMs;
  let changed = false;
  let last = Number.NEGATIVE_INFINITY;
  let rouse = (): void => {};
  const calm = (): number => Math.max(0, last + CALM_MS - now());
  const unwatch = onChange(app.stateDirectory, () => {
    if (changed) return;
    changed = true;
    setTimeout(() => rouse(), calm());
  });
  const stop = (): void => rouse();
  signal?.addEventListener('abort', stop);

  return {
    async next(ms = SAFETY_MS) {
      signal?.throwIfAborted();
      const longest = unwatch === null ? Math.min(ms, UNWATCHED_MS) : ms;
      await new Promise<void>((resolve) => {
        // Keeps the process alive, which a watch does not.
        const left = Math.max(0, end - now());
        const timer = setTimeout(() => rouse(), Math.min(changed ? calm() : longest, left));
        rouse = () => {
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
