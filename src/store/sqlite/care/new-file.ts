import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { translate } from '../failures.ts';

/** Makes the file of a draft before SQLite does, so that nobody else can read it even for a moment. */
export function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    // The error names the directory of the target: nobody knows a draft by its name.
    throw translate(error, dirname(dirname(path)));
  }
}
