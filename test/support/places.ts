import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from './queuectl.ts';

/** Returns the names of the attempt directories, except number 0, which is the seal. */
export function placeNames(box: Sandbox): string[] {
  const entries = readdirSync(join(box.home, 'queue.db.d', 'attempts'), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.endsWith('-0'))
    .map((entry) => entry.name);
}
