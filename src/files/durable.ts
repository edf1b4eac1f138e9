import { closeSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/** Syncs a file and its directory, so that both survive a power cut. It would drop the locks of a database that is open here. */
export function syncFile(path: string): void {
  sync(path);
  sync(dirname(path));
}

/** Syncs a file, or a directory, so that files created or renamed in it survive a power cut. */
export function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
