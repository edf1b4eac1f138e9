import { closeSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/** On disk with its name, whatever happens next. Never for a database that this process has open: its locks would go. */
export function syncFile(path: string): void {
  sync(path);
  sync(dirname(path));
}

/** Of a directory: the names in it, as they are now. */
export function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
