import { realpathSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { orNull } from '../core/or-null.ts';
import { type StateDirectory, stateBeside } from '../state/state-directory.ts';
import { storeLocation } from '../store/location.ts';

const FILE_NAME = '.stop_workers';

/** A file that requests all workers to drain. Anyone who can create the file can stop them, even without queuectl. */
export interface StopFile {
  /** Tells whether the file exists and is newer than this time. An older file was meant for earlier workers. */
  isNewerThan(startedAt: number): boolean;
  remove(): void;
}

/** Returns the stop file of a store. It may be in the state directory or, for the default store, beside the database. */
export function stopFileOf(state: StateDirectory, environment: NodeJS.ProcessEnv): StopFile {
  const { QUEUECTL_HOME } = environment;
  const defaultDatabase = storeLocation(undefined, QUEUECTL_HOME ? { QUEUECTL_HOME } : {});
  const databaseDirectories = isStateOf(state, defaultDatabase) ? [dirname(defaultDatabase)] : [];
  const files = [state.path, ...databaseDirectories].map((directory) => join(directory, FILE_NAME));
  return {
    isNewerThan: (startedAt) =>
      files.some((file) => (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > startedAt),
    remove() {
      for (const file of files) rmSync(file, { force: true });
    },
  };
}

function isStateOf({ path }: StateDirectory, database: string): boolean {
  return orNull(() => stateBeside(realpathSync(database)).path === path) ?? false;
}
