import { usageError } from '../core/errors.ts';
import { careOf } from '../store/open.ts';
import type { App } from './app.ts';
import { copyOutputs, renewCopy } from './backup.ts';
import { throwIfJobsRun } from './throw-if-running.ts';

/** Throws if the store is a file, whose copies queuectl makes and renews itself. */
export async function refuseRenewingFile(location: string): Promise<void> {
  if ((await careOf(location)).isOnServer) return;
  throw usageError(
    'db renew is for a queue in PostgreSQL that was restored by pg_restore',
    'to copy a database file, use queuectl backup and queuectl restore',
  );
}

/** Returns how many workers and running jobs a store lists. If it is a copy, these are the ones of the original. */
export async function previewRenewal({ store }: App): Promise<{ workers: number; running: number }> {
  return { workers: (await store.workers()).length, running: (await store.runningJobs()).length };
}

/**
 * Turns a restored copy into a store of its own: gives it a new epoch, forgets its workers and settles its running jobs as
 * lost. Keeps the long outputs that are on this host. Throws if a command that the store lists as running still runs here.
 */
export async function renewStore(app: App) {
  const { store, stateDirectory } = app;
  await throwIfJobsRun(store, stateDirectory);
  const oldEpoch = store.epoch;
  const counts = await renewCopy(app, store);
  const { outputs } = await copyOutputs(store, { epoch: oldEpoch, stateDirectory }, stateDirectory);
  return { epoch: store.epoch, origin: oldEpoch, ...counts, outputs };
}
