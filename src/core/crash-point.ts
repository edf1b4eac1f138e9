import { QueueError } from './errors.ts';

/** The kinds of faults: the process is killed, is stopped (SIGSTOP), throws an error, or blocks for a while. */
export const CRASHES = ['kill', 'stop', 'throw', 'block'] as const;
export type Crash = (typeof CRASHES)[number];

let onPassed: ((name: string) => void) | null = null;

/** Marks a place at which a test can inject a fault. It does nothing unless `watchCrashPoints` has set a callback. */
export function crashPoint(name: string): void {
  onPassed?.(name);
}

/** Takes steps that change something outside of the store: with a crash point before and after them (`before-NAME`), and one between two. */
export function inSteps<T>(name: string, first: () => T, second?: () => void): T {
  crashPoint(`before-${name}`);
  const result = first();
  if (second !== undefined) {
    crashPoint(`in-${name}`);
    second();
  }
  crashPoint(`after-${name}`);
  return result;
}

/** Reads `name:nth:kind` and calls `crash` when that point is passed for the nth time. `nth` is 1 and `kind` is `kill` by default. */
export function armCrashPoint(text: string, crash: (kind: Crash) => void): void {
  const match = /^([a-z]+-[A-Za-z-]+)(?::([1-9]\d{0,8}))?(?::([a-z]+))?$/.exec(text);
  const kind = CRASHES.find((one) => one === (match?.[3] ?? 'kill'));
  if (match === null || kind === undefined)
    throw new QueueError('usage', `QUEUECTL_CRASH_AT must be name:nth:${CRASHES.join('|')}, not '${text}'`);
  let remaining = Number(match[2] ?? 1);
  watchCrashPoints((name) => {
    if (name === match[1] && --remaining === 0) crash(kind);
  });
}

/** Calls `callback` whenever the process passes any crash point. Replaces an earlier callback. Null stops the calls. */
export function watchCrashPoints(callback: ((name: string) => void) | null): void {
  onPassed = callback;
}
