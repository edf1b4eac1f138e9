import { closeSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/** Syncs a file and its directory, so that both survive a power cut. For a database that is open here, this would drop its locks. */
export function syncFile(path: string): void {
  sync(path);
  sync(dirname(path));
}

/** Syncs a file, or the names of the files in a directory, so that they survive a power cut. */
export function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
