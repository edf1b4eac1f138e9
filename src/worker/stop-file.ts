import { realpathSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { orNull } from '../core/or-null.ts';
import { type StateDirectory, stateBeside } from '../state/state-directory.ts';
import { storeLocation } from '../store/location.ts';

const FILE_NAME = '.stop_workers';

/** A file that requests all workers to drain. Anyone who can create the file can stop them, even without queuectl. */
export interface StopFile {
  /** Tells whether the file exists and is newer than `since`. An older file was meant for earlier workers. */
  isNew(): boolean;
  remove(): void;
}

/** Returns the stop file of a store. `since` is a time by the clock of this host, like that of the file. The file may be in the state directory or, for the default store, beside the database. */
export function stopFileOf(state: StateDirectory, environment: NodeJS.ProcessEnv, since: number): StopFile {
  const { QUEUECTL_HOME } = environment;
  const defaultDatabase = storeLocation(undefined, QUEUECTL_HOME ? { QUEUECTL_HOME } : {});
  const databaseDirectories = isStateOf(state, defaultDatabase) ? [dirname(defaultDatabase)] : [];
  const files = [state.path, ...databaseDirectories].map((directory) => join(directory, FILE_NAME));
  return {
    isNew: () => files.some((file) => (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > since),
    remove() {
      for (const file of files) rmSync(file, { force: true });
    },
  };
}

function isStateOf({ path }: StateDirectory, database: string): boolean {
  return orNull(() => stateBeside(realpathSync(database)).path === path) ?? false;
}
