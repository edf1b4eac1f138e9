import { type FSWatcher, utimesSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const WAKE_FILE = 'wake';

/** Tells every worker on this state directory to look now. Only a hint: they would look by themselves a little later. */
export function wake(stateDirectory: string): void {
  const file = join(stateDirectory, WAKE_FILE);
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch {
    try {
      writeFileSync(file, '', { mode: 0o600 });
    } catch {
      // Then their own timers have to do.
    }
  }
}

/** Calls back at every wake-up. Null: no watch is to be had here (inotify instances are few). */
export function onWake(stateDirectory: string, callback: () => void): (() => void) | null {
  let watcher: FSWatcher;
  try {
    watcher = watch(stateDirectory, { persistent: false }, () => callback());
  } catch {
    return null;
  }
  watcher.on('error', () => {});
  return () => watcher.close();
}
