import { realpathSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { orNull } from '../core/or-null.ts';
import { type StateDirectory, stateBeside } from '../state/state-directory.ts';
import { storeLocation } from '../store/location.ts';

const NAME = '.stop_workers';

/** A file that requests all workers to stop. Anyone who can create the file can do so. */
export interface StopFile {
  /** Tells whether the file is newer than the start of a worker. An older file was meant for earlier workers. */
  isNewerThan(startedAt: number): boolean;
  /** Removes the file. The last worker that leaves does this. */
  remove(): void;
}

/** Looks for the file in the state directory, and for the default store also in the directory of the database. */
export function stopFileOf(state: StateDirectory, environment: NodeJS.ProcessEnv): StopFile {
  const { QUEUECTL_HOME } = environment;
  const byDefault = storeLocation(undefined, QUEUECTL_HOME ? { QUEUECTL_HOME } : {});
  const home = belongsTo(byDefault, state) ? [dirname(byDefault)] : [];
  const files = [state.path, ...home].map((directory) => join(directory, NAME));
  return {
    isNewerThan: (startedAt) =>
      files.some((file) => (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > startedAt),
    remove() {
      for (const file of files) rmSync(file, { force: true });
    },
  };
}

function belongsTo(database: string, { path }: StateDirectory): boolean {
  return orNull(() => stateBeside(realpathSync(database)).path === path) ?? false;
}
