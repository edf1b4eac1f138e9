import { readFileSync } from 'node:fs';
import { orNull } from '../core/or-null.ts';

/** Reads a file as bytes in a string. Returns null if it cannot be read. */
export function maybeRead(path: string): string | null {
  return orNull(() => readFileSync(path, 'latin1'));
}
