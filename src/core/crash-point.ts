import { QueueError } from './errors.ts';

let passed: ((name: string) => void) | null = null;

/** A place at which a process can be made to die, to see what the others make of it. Nothing happens unless armed. */
export function crashPoint(name: string): void {
  passed?.(name);
}

/** `name:nth`: a SIGKILL to itself at the nth passing of that point, or with `:stop` a SIGSTOP; a bare name means the first. */
export function armCrashPoint(text: string, send: (signal: 'SIGKILL' | 'SIGSTOP') => void): void {
  const match = /^([a-z]+-[A-Za-z-]+)(?::([1-9]\d{0,8}))?(:stop)?$/.exec(text);
  if (match === null)
    throw new QueueError('usage', `QUEUECTL_CRASH_AT must be name:nth or name:nth:stop, not '${text}'`);
  let left = Number(match[2] ?? 1);
  watchCrashPoints((name) => {
    if (name === match[1] && --left === 0) send(match[3] === undefined ? 'SIGKILL' : 'SIGSTOP');
  });
}

/** Calls back at every passing of any point. */
export function watchCrashPoints(callback: ((name: string) => void) | null): void {
  passed = callback;
}
