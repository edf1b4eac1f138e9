import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from './queuectl.ts';

/** The names of the directories that attempts have. */
export function placesOf(box: Sandbox): string[] {
  const entries = readdirSync(join(box.home, 'queue.db.d', 'attempts'), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}
