import { closeSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/** On disk with its name, whatever happens next. Never for a database that this process has open: its locks would go. */
export function syncFile(path: string): void {
  for (const one of [path, dirname(path)]) {
    const file = openSync(one, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
}
