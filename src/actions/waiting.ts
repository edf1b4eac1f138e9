import { onChange } from '../state/wake.ts';
import type { App } from './app.ts';

/** Without a watch, look this often. */
const UNWATCHED_MS = 100;
/** On a busy queue something changes all the time: a look every so often is soon enough. */
const CALM_MS = 20;

export interface WaitingOptions {
  timeoutMs: number | null;
  /** Ends the waiting; its reason is thrown. */
  signal?: AbortSignal | undefined;
}

/** Waiting for what others do: woken by it, with a slow look as a safety net. */
export interface Waiting {
  /** Resolves when something has changed since the last call, or after so long. Throws when told to stop waiting. */
  next(ms: number): Promise<void>;
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
    async next(ms) {
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
