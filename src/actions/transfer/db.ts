import { usageError } from '../../core/errors.ts';
import { resolveSettings } from '../../core/settings/stored-settings.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { mostCommonEpoch } from '../../state/attempt-files.ts';
import type { RepairResult } from '../../store/contract/file-care.ts';
import { careOf } from '../../store/open.ts';
import type { App } from '../app.ts';
import { settlementOfLost } from '../jobs/settlement.ts';
import { copyOutputs, renewCopy, runningAttemptNames, throwIfCommandsRun, throwIfJobsRun } from './backup.ts';

/** Checks the database. `fix` names the commands that help, or is null if nothing is wrong. */
export async function checkDatabase(location: string, storeTimeoutMs?: number) {
  const care = await careOf(location);
  const { path, problems, fix, invalidSettings } = await care.check(location, storeTimeoutMs);
  const unset = invalidSettings.map(({ key }) => `queuectl config unset ${shellWord(key)}`).join(' && ');
  return {
    db: path,
    ok: problems.length + invalidSettings.length === 0,
    problems: [...problems, ...invalidSettings.map(({ problem }) => problem)],
    fix:
      problems.length > 0
        ? fix
        : unset === ''
          ? null
          : `to reset ${invalidSettings.length === 1 ? 'the setting' : 'the settings'}: ${unset}`,
  };
}

/** Moves all readable rows of a damaged store to a new one and keeps the old file. Throws if the store is not damaged. */
export async function repairDatabase(
  { clock, random }: Pick<App, 'clock' | 'random'>,
  location: string,
  anyOwner: boolean,
): Promise<RepairResult> {
  const care = await careOf(location);
  const stateDirectory = care.stateDirectoryOf(location);
  return care.repair(location, anyOwner, {
    now: () => clock.now(),
    knownEpoch: () => mostCommonEpoch(stateDirectory),
    settleLost: (stored) => settlementOfLost(resolveSettings(stored), clock.now(), random),
    accept: async (copy) => throwIfCommandsRun(stateDirectory, await runningAttemptNames(copy)),
  });
}

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

const RUNS_ORIGINAL =
  'this host also runs the original of the copy. Renew the copy on another host, or wait until the original has run the job';

/**
 * Turns a restored copy into a store of its own: gives it a new epoch, forgets its workers and settles its running jobs as
 * lost. Keeps the long outputs that are on this host. Throws if a command that the store lists as running still runs here.
 */
export async function renewStore(app: App) {
  const { store, stateDirectory } = app;
  // A worker that is started for the copy would run all its jobs, which the original runs, too.
  await throwIfJobsRun(store, stateDirectory, RUNS_ORIGINAL);
  const oldEpoch = store.epoch;
  const counts = await renewCopy(app, store);
  const { outputs } = await copyOutputs(store, { epoch: oldEpoch, stateDirectory }, stateDirectory);
  return { epoch: store.epoch, origin: oldEpoch, ...counts, outputs };
}
