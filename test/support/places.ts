import { join } from 'node:path';
import { namesByAttempt } from '../../src/state/place.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import type { Sandbox } from './queuectl.ts';

/** Returns the names of the attempts that have files. */
export function placeNames(box: Sandbox): string[] {
  return [...namesByAttempt(stateDirectory(join(box.home, 'queue.db.d'))).keys()];
}

/** Returns the names of the files of all attempts without the names of the attempts, such as `out` and `rec`. */
export function fileNames(box: Sandbox): string[] {
  const names = [...namesByAttempt(stateDirectory(join(box.home, 'queue.db.d'))).values()].flat();
  return names.map((name) => name.slice(name.indexOf('.') + 1)).sort();
}
