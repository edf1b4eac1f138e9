import { closeSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/** Syncs a file and its name to disk. Must not be called for a database that this process has open, because that drops its locks. */
export function syncFile(path: string): void {
  sync(path);
  sync(dirname(path));
}

/** Syncs the contents of a file, or the names in a directory, so that they survive a power cut. */
export function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
