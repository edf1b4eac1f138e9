import { QueueError } from './errors.ts';

let passed: ((name: string) => void) | null = null;

/** A place at which a process can be made to die, to see what the others make of it. Nothing happens unless armed. */
export function crashPoint(name: string): void {
  passed?.(name);
}

/** `name:nth`: dies at the nth passing of that point; a bare name means the first. */
export function armCrashPoint(text: string, die: () => void): void {
  const match = /^([a-z]+-[A-Za-z-]+)(?::([1-9]\d{0,8}))?$/.exec(text);
  if (match === null) throw new QueueError('usage', `QUEUECTL_CRASH_AT must be name:nth, not '${text}'`);
  let left = Number(match[2] ?? 1);
  watchCrashPoints((name) => {
    if (name === match[1] && --left === 0) die();
  });
}

/** Calls back at every passing of any point. */
export function watchCrashPoints(callback: ((name: string) => void) | null): void {
  passed = callback;
}
