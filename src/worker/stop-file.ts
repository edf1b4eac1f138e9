import { realpathSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type StateDirectory, stateBeside } from '../state/state-directory.ts';
import { storeLocation } from '../store/location.ts';

const NAME = '.stop_workers';

/** A request to stop that anybody can make who can create a file. */
export interface StopFile {
  /** Whether one of the files is newer than the worker's start; an older one was meant for others. */
  asks(startedAt: number): boolean;
  /** The last worker to leave takes the request away with it. */
  remove(): void;
}

/** The file is looked for in the state directory, and in the directory of the default store when this is that store. */
export function stopFileOf(state: StateDirectory, environment: NodeJS.ProcessEnv): StopFile {
  const { QUEUECTL_HOME } = environment;
  const byDefault = storeLocation(undefined, QUEUECTL_HOME ? { QUEUECTL_HOME } : {});
  const home = belongsTo(byDefault, state) ? [dirname(byDefault)] : [];
  const files = [state.path, ...home].map((directory) => join(directory, NAME));
  return {
    asks: (startedAt) =>
      files.some((file) => (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > startedAt),
    remove() {
      for (const file of files) rmSync(file, { force: true });
    },
  };
}

function belongsTo(database: string, { path }: StateDirectory): boolean {
  try {
    return stateBeside(realpathSync(database)).path === path;
  } catch {
    return false;
  }
}
