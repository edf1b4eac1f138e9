import { readdirSync } from 'node:fs';

/** What is in a directory; nothing, where there is none, or none that may be read. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
