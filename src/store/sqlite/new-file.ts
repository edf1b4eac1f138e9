import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { translate } from './failures.ts';

/** Made before SQLite would, so that nobody else can read it even for a moment. */
export function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    // Said of the directory: nobody knows a draft by its name.
    throw translate(error, dirname(path));
  }
}
