import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const NAME = '.stop_workers';

/** A file newer than the worker's start asks it to stop; an older one was meant for others. */
export function stopFileAsks(stateDirectory: string, startedAt: number): boolean {
  const stat = statSync(join(stateDirectory, NAME), { throwIfNoEntry: false });
  return stat !== undefined && stat.mtimeMs > startedAt;
}

/** The last worker to leave takes the request away with it. */
export function removeStopFile(stateDirectory: string): void {
  rmSync(join(stateDirectory, NAME), { force: true });
}
