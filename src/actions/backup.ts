import { resolve } from 'node:path';
import { resolveSettings } from '../core/stored-settings.ts';
import { removeAttempts } from '../exec/running-commands.ts';
import { attemptsIn, copyOutput } from '../state/kept-output.ts';
import { newPlace, type Place, placeOf, removePlace } from '../state/place.ts';
import { type StateDirectory, stateBeside } from '../state/state-directory.ts';
import type { CopyOptions } from '../store/contract/file-care.ts';
import { careOf } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { App } from './app.ts';
import { settlementOfLost } from './settlement.ts';

export interface Backup {
  file: string;
  bytes: number;
  jobs: number;
  /** The number of jobs that were running. In the backup, their attempts count as lost. */
  running: number;
  /** The number of long outputs that were copied to FILE.d. */
  outputs: number;
  /** The number of long outputs that were left out. */
  outputs_left: number;
}

/** Writes a backup: an independent store with the contents of the store at one moment. Running attempts count as lost in it. */
export async function backup(
  app: App,
  location: string,
  file: string,
  options: CopyOptions,
): Promise<Backup> {
  const backupState = stateBeside(resolve(file));
  const result = await (await careOf(location)).copy(location, file, options, async (copy) => {
    const source = { epoch: copy.epoch, stateDirectory: app.stateDirectory };
    const jobCounts = await renewCopy(app, copy);
    return { ...(await copyOutputs(copy, source, options.withOutput ? backupState : null)), ...jobCounts };
  });
  const { renewResult, replacedEpoch, ...written } = result;
  if (replacedEpoch !== null && replacedEpoch !== app.store.epoch) removeAttempts(backupState, replacedEpoch);
  return { ...written, ...renewResult };
}

/** Gives a copy a new epoch and settles its running jobs as lost. Returns how many jobs it has, and how many were running. */
export async function renewCopy(app: Pick<App, 'clock' | 'random'>, copy: Store) {
  const running = (await copy.runningJobs()).length;
  const settings = resolveSettings(await copy.settings());
  await copy.renew(settlementOfLost(settings, app.clock.now(), app.random));
  const jobs = (await copy.counts()).reduce((sum, one) => sum + one.jobs, 0);
  return { jobs, running };
}

/**
 * Copies the long outputs of `store` from `source` to `target`. The names of their directories get the new epoch of the store.
 * Calls `onCopy` before each copy. If `target` is null, copies nothing and counts the outputs as `outputs_left`.
 */
export async function copyOutputs(
  store: Store,
  source: { epoch: string; stateDirectory: StateDirectory },
  target: StateDirectory | null,
  onCopy: () => void = () => {},
): Promise<{ outputs: number; outputs_left: number }> {
  const counts = { outputs: 0, outputs_left: 0 };
  for (const attempt of attemptsIn(source.stateDirectory, source.epoch)) {
    if (!(await store.needsPlace(attempt))) continue;
    if (target === null) counts.outputs_left++;
    else {
      onCopy();
      const from = placeOf(source.stateDirectory, source.epoch, attempt);
      if (tryCopy(from, newPlace(target, store.epoch, attempt))) counts.outputs++;
    }
  }
  return counts;
}

/** Copies one output. Returns false if it was pruned in the meantime. */
function tryCopy(from: Place, to: Place): boolean {
  try {
    copyOutput(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    removePlace(to);
    return false;
  }
}
