import { QueueError } from './errors.ts';

/** What happens to the process: killed, stopped, an error out of nowhere, or nothing else done for a while. */
export const CRASHES = ['kill', 'stop', 'throw', 'block'] as const;
export type Crash = (typeof CRASHES)[number];

let passed: ((name: string) => void) | null = null;

/** A place at which a process can be made to die, to see what the others make of it. Nothing happens unless armed. */
export function crashPoint(name: string): void {
  passed?.(name);
}

/** `name:nth:how`: at the nth passing of that point. A bare name means killed at the first. */
export function armCrashPoint(text: string, crash: (how: Crash) => void): void {
  const match = /^([a-z]+-[A-Za-z-]+)(?::([1-9]\d{0,8}))?(?::([a-z]+))?$/.exec(text);
  const how = CRASHES.find((one) => one === (match?.[3] ?? 'kill'));
  if (match === null || how === undefined)
    throw new QueueError('usage', `QUEUECTL_CRASH_AT must be name:nth:${CRASHES.join('|')}, not '${text}'`);
  let left = Number(match[2] ?? 1);
  watchCrashPoints((name) => {
    if (name === match[1] && --left === 0) crash(how);
  });
}

/** Calls back at every passing of any point. */
export function watchCrashPoints(callback: ((name: string) => void) | null): void {
  passed = callback;
}
