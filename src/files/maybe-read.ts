import { readFileSync } from 'node:fs';

/** Reads a file as a string with one character per byte (Latin-1). Returns null if it cannot be read. */
export function maybeRead(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}
