import { readdirSync } from 'node:fs';

/** Returns the names in a directory, or none if it does not exist or cannot be read. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
