import { readFileSync } from 'node:fs';

/** Reads a file as bytes in a string. Returns null if it cannot be read. */
export function maybeRead(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}
