import { mkdirSync, utimesSync, watch, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import { orNull } from '../core/or-null.ts';
import type { StateDirectory } from './state-directory.ts';

/**
 * Returns the signals of a store that only processes of this host use. They touch files of the state directory, which the
 * other processes watch. If a file cannot be touched, they find the change at their next poll.
 */
export function fileSignals(state: StateDirectory) {
  const tellChange = (): void => touch(state.change);
  return {
    wake() {
      touch(state.wake);
      tellChange();
    },
    tellChange,
    reopensCheaply: true,
    onWake: (callback: () => void) => onTouch(dirname(state.wake), callback),
    onChange: (callback: () => void) => onTouch(dirname(state.change), callback),
  };
}

function touch(file: string): void {
  crashPoint('before-touch');
  const now = Date.now() / 1000;
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
