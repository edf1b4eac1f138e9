import { mkdirSync, utimesSync, watch, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import { orNull } from '../core/or-null.ts';
import type { StateDirectory } from './state-directory.ts';

/** Wakes the workers that use this state directory, and reports a change. If this fails, they find the change at their next poll. */
export function wake(state: StateDirectory): void {
  touch(state.wake);
  tellChange(state);
}

/** Wakes the processes that wait for jobs to end, or follow jobs or events. If this fails, they find the change at their next poll. */
export function tellChange(state: StateDirectory): void {
  touch(state.change);
}

/** Calls `callback` at every wake-up. Returns a function that ends this, or null if the directory cannot be watched. */
export function onWake(state: StateDirectory, callback: () => void): (() => void) | null {
  return onTouch(dirname(state.wake), callback);
}

/** Calls `callback` when something has changed. Returns the same as `onWake`. */
export function onChange(state: StateDirectory, callback: () => void): (() => void) | null {
  return onTouch(dirname(state.change), callback);
}

function touch(file: string): void {
  crashPoint('before-touch');
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch {
    try {
      crashPoint('in-touch');
      makeDirectory(dirname(file));
      crashPoint('in-touch');
      writeFileSync(file, '', { mode: 0o600 });
    } catch {
      // Other processes notice the change when they poll.
    }
  }
  crashPoint('after-touch');
}

function onTouch(directory: string, callback: () => void): (() => void) | null {
  const watcher = orNull(() => {
    makeDirectory(directory);
    return watch(directory, { persistent: false }, () => callback());
  });
  if (watcher === null) return null;
  watcher.on('error', () => {});
  return () => watcher.close();
}

/** Creates the directory but not its parents, so that a store that was moved away can come back. */
function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
