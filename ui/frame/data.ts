import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { StoreEvent } from '../types.ts';
import { get, Problem } from './api.ts';
import { type Batch, onBatch, paused } from './live.ts';
import { readFailed, readWorked } from './store-away.ts';

export interface Data<T> {
  value: T | null;
  problem: Problem | null;
  loading: boolean;
  again(): void;
}

interface Options<T> {
  /** Selects the events after which the data is read again. The default is all events. */
  on?: (event: StoreEvent) => boolean;
  /** The minimum time between two reads. */
  gapMs?: number;
  /** Also reads the data again after this time, because it changes without an event. */
  everyMs?: number;
  /** Reads the data, if one GET request is not enough. */
  read?: (path: string, signal: AbortSignal) => Promise<T>;
}

const GAP_MS = 1000;

/** Returns the data of an API path, and reads it again after events. Null reads nothing. */
export function useData<T>(
  path: string | null,
  { on, gapMs = GAP_MS, everyMs, read = get<T> }: Options<T> = {},
): Data<T> {
  const value = useSignal<T | null>(null);
  const problem = useSignal<Problem | null>(null);
  const loading = useSignal(true);
  const again = useSignal<() => void>(() => {});
  const of = useSignal(path);
  useEffect(() => {
    of.value = path;
    value.value = null;
    problem.value = null;
    loading.value = path !== null;
    if (path === null) return;
    const reading = keepReading((signal) => read(path, signal), gapMs, { value, problem, loading });
    again.value = reading.want;
    const off = onBatch((batch) => {
      if (touches(batch, on)) reading.want();
    });
    reading.want();
    const timer = everyMs === undefined ? undefined : setInterval(whenShown, everyMs, reading.want);
    return () => {
      clearInterval(timer);
      off();
      reading.end();
    };
  }, [path]);
  // The data of another path must not be used, not even until the next redraw.
  const same = of.value === path;
  return {
    value: same ? value.value : null,
    problem: same ? problem.value : null,
    loading: !same || loading.value,
    again: () => again.value(),
  };
}

/** Calls a function unless the page is hidden or the user paused updates. */
function whenShown(act: () => void): void {
  if (!document.hidden && !paused.value) act();
}

function touches({ events, all }: Batch, on: Options<unknown>['on']): boolean {
  return all || (on === undefined ? events.length > 0 : events.some(on));
}

interface Target<T> {
  value: Signal<T | null>;
  problem: Signal<Problem | null>;
  loading: Signal<boolean>;
}

/** Reads one at a time. A request for data during a read leads to one more read. */
function keepReading<T>(read: (signal: AbortSignal) => Promise<T>, gapMs: number, to: Target<T>) {
  const stop = new AbortController();
  let busy = false;
  let wanted = false;
  const run = async (): Promise<void> => {
    busy = true;
    while (wanted && !stop.signal.aborted) {
      wanted = false;
      try {
        const found = await read(stop.signal);
        if (stop.signal.aborted) return;
        to.value.value = found;
        to.problem.value = null;
        readWorked();
      } catch (error) {
        if (stop.signal.aborted) return;
        to.problem.value = error instanceof Problem ? error : new Problem(0, 'unexpected', String(error));
        readFailed(to.problem.value);
      }
      to.loading.value = false;
      await new Promise((resolve) => setTimeout(resolve, gapMs));
    }
    busy = false;
  };
  return {
    want(): void {
      wanted = true;
      if (!busy) void run();
    },
    end: () => stop.abort(),
  };
}
