import { mkdirSync, statSync, utimesSync, watch, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import { orNull } from '../core/text/language.ts';
import type { StateDirectory } from './state-directory.ts';

/** The time after an event at which a touch that was not reported is found. */
const SETTLE_MS = 5;

/**
 * Returns the signals of a store that only processes of this host use. They touch files of the state directory, which the
 * other processes watch. If a file cannot be touched, they find the change at their next poll.
 */
export function fileWakeups(state: StateDirectory) {
  const tellChange = (): void => touch(state.change);
  return {
    wake() {
      touch(state.wake);
      tellChange();
    },
    tellChange,
    reopensCheaply: true,
    onWake: (callback: () => void) => onTouch(state.wake, callback),
    onChange: (callback: () => void) => onTouch(state.change, callback),
  };
}

function touch(file: string): void {
  crashPoint('before-touch');
  // The random part makes the times of two touches within a millisecond different.
  const now = (Date.now() + Math.random()) / 1000;
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

/**
 * Calls `callback` when a file is touched. Bun does not report a touch within 2ms after another one. So a moment after each event,
 * the time of the file is compared with the time at the event.
 */
function onTouch(file: string, callback: () => void): (() => void) | null {
  const directory = dirname(file);
  let touchedAt: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  const called = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (timeOf(file) !== touchedAt) called();
    }, SETTLE_MS);
    timer.unref();
    // The time is read before the call. So if the callback misses a change, its touch gives the file another time than this.
    touchedAt = timeOf(file);
    callback();
  };
  const watcher = orNull(() => {
    makeDirectory(directory);
    return watch(directory, { persistent: false }, called);
  });
  if (watcher === null) return null;
  watcher.on('error', () => {});
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}

/** Returns the time at which a file was last touched, or null. */
function timeOf(file: string): number | null {
  return orNull(() => statSync(file, { throwIfNoEntry: false }))?.mtimeMs ?? null;
}

/** Creates the directory but not its parents, so that a store that was moved away can come back. */
function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
