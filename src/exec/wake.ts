import { type FSWatcher, mkdirSync, utimesSync, watch, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';

const WAKE_FILE = 'wake';
/** In a directory of its own: workers watch the state directory, and an idle one has nothing to do with what ended. */
const CHANGE_FILE = join('changes', 'last');

/**
 * Tells every worker on this state directory to look now, and whoever follows what happens. Only a hint: they would look
 * by themselves a little later.
 */
export function wake(stateDirectory: string): void {
  touch(join(stateDirectory, WAKE_FILE));
  tellChange(stateDirectory);
}

/** Tells whoever waits for jobs, or follows them or the events, that something has changed. Only a hint, too. */
export function tellChange(stateDirectory: string): void {
  touch(join(stateDirectory, CHANGE_FILE));
}

/** Calls back at every wake-up. Null: no watch is to be had here (inotify instances are few). */
export function onWake(stateDirectory: string, callback: () => void): (() => void) | null {
  return onTouch(stateDirectory, callback);
}

/** Calls back when something has changed. Null: no watch is to be had here. */
export function onChange(stateDirectory: string, callback: () => void): (() => void) | null {
  return onTouch(dirname(join(stateDirectory, CHANGE_FILE)), callback);
}

function touch(file: string): void {
  crashPoint('before-touch');
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch {
    try {
      crashPoint('in-touch');
      make(dirname(file));
      crashPoint('in-touch');
      writeFileSync(file, '', { mode: 0o600 });
    } catch {
      // Then their own timers have to do.
    }
  }
  crashPoint('after-touch');
}

function onTouch(directory: string, callback: () => void): (() => void) | null {
  let watcher: FSWatcher;
  try {
    make(directory);
    watcher = watch(directory, { persistent: false }, () => callback());
  } catch {
    return null;
  }
  watcher.on('error', () => {});
  return () => watcher.close();
}

/** Not what it stands in: a store that was moved away finds its place free when it comes back. */
function make(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
