import { pollUntil } from '../core/time/clock.ts';

/** The longest delay of a timer. JavaScript runtimes fire a longer one at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Starts a timer of any length and returns a function that cancels it. The timer does not keep the process alive. */
export function longTimeout(callback: () => void, ms: number): () => void {
  let timer: NodeJS.Timeout;
  const arm = (remainingMs: number): void => {
    timer = setTimeout(
      () => (remainingMs > LONGEST_TIMER_MS ? arm(remainingMs - LONGEST_TIMER_MS) : callback()),
      Math.min(remainingMs, LONGEST_TIMER_MS),
    );
    timer.unref();
  };
  arm(ms);
  return () => clearTimeout(timer);
}

/** Returns a function that calls `callback` once after some time. Further calls before that have no effect. */
export function onceAfter(callback: () => void): (ms: number) => void {
  let isSet = false;
  return (ms) => {
    if (isSet) return;
    isSet = true;
    longTimeout(() => {
      isSet = false;
      callback();
    }, ms);
  };
}

export interface Loop {
  /** Schedules the next run after a delay, instead of the one that was scheduled before. */
  start(): void;
  /** Runs at once. If a run is under way, runs once more after it. */
  runNow(): void;
  stop(): void;
}

/**
 * Creates a loop that runs `runOnce` repeatedly, never twice at the same time. `delayMs` returns the delay before the next run. If
 * it is infinite, the loop pauses until it is started again.
 */
export function createLoop(runOnce: () => Promise<void>, delayMs: () => number): Loop {
  let timer: NodeJS.Timeout | undefined;
  let busy = false;
  let again = false;
  let stopped = false;
  const run = async (): Promise<void> => {
    if (stopped) return;
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    clearTimeout(timer);
    do {
      again = false;
      await runOnce();
    } while (again && !stopped);
    busy = false;
    start();
  };
  const start = (): void => {
    clearTimeout(timer);
    const ms = delayMs();
    if (!stopped && !busy && ms < Number.POSITIVE_INFINITY) timer = setTimeout(run, ms);
  };
  return {
    start,
    runNow: () => void run(),
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Returns a function that runs the functions passed to it one after the other. */
export function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  };
}

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
