import { readFileSync } from 'node:fs';
import { orNull } from '../core/or-null.ts';

/** Reads a file as a string with one character per byte (Latin-1). Returns null if it cannot be read. */
export function maybeRead(path: string): string | null {
  return orNull(() => readFileSync(path, 'latin1'));
}
