import { readdirSync } from 'node:fs';
import { orNull } from '../core/or-null.ts';

/** Returns the names in a directory, or none if it does not exist or cannot be read. */
export function namesIn(directory: string): string[] {
  return orNull(() => readdirSync(directory)) ?? [];
}
