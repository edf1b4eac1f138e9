import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { resolveSettings } from '../core/stored-settings.ts';
import { removeOutputs } from '../exec/living.ts';
import { attemptsIn, copyOutput } from '../state/kept-output.ts';
import { placeOf } from '../state/place.ts';
import { type StateDirectory, stateBeside } from '../state/state-directory.ts';
import type { CopyOptions } from '../store/contract/file-care.ts';
import { careOf } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { App } from './app.ts';
import { settleAsLost } from './settlement.ts';

export interface Backup {
  file: string;
  bytes: number;
  jobs: number;
  /** The jobs that were running. In the backup their attempts are lost. */
  running: number;
  /** The long outputs that are in FILE.d, and those that were left out. */
  outputs: number;
  outputs_left: number;
}

/** Makes a backup: a store of its own with one moment of the queue. Running attempts count as lost in it. */
export async function backup(
  app: App,
  location: string,
  file: string,
  options: CopyOptions,
): Promise<Backup> {
  const care = await careOf(location);
  const outputs = stateBeside(resolve(file));
  const { made, replaced, ...copied } = await care.copy(location, file, options, async (copy) => {
    const from = { epoch: copy.epoch, stateDirectory: app.stateDirectory };
    const counts = await renewCopy(app, copy);
    return { ...(await keepOutputs(copy, from, options.withOutput ? outputs : null)), ...counts };
  });
  if (replaced !== null && replaced !== app.store.epoch) removeOutputs(outputs, replaced);
  return { ...copied, ...made };
}

/** Gives a copy a new epoch, so that nothing of the original is taken for its own. Returns how many jobs it has. */
export async function renewCopy(
  app: Pick<App, 'clock' | 'random'>,
  copy: Store,
): Promise<{ jobs: number; running: number }> {
  const running = (await copy.running()).length;
  const settings = resolveSettings(await copy.settings());
  await copy.renew(settleAsLost(settings, app.clock.now(), app.random));
  const jobs = (await copy.counts()).reduce((sum, one) => sum + one.jobs, 0);
  return { jobs, running };
}

/** Copies the long outputs of a store to where its new epoch looks for them. Calls `begin` before each of them. */
export async function keepOutputs(
  store: Store,
  from: { epoch: string; stateDirectory: StateDirectory },
  to: StateDirectory | null,
  begin: () => void = () => {},
): Promise<{ outputs: number; outputs_left: number }> {
  const counts = { outputs: 0, outputs_left: 0 };
  for (const attempt of attemptsIn(from.stateDirectory, from.epoch)) {
    if (!(await store.needsPlace(attempt))) continue;
    const source = placeOf(from.stateDirectory, from.epoch, attempt).directory;
    if (to === null) counts.outputs_left++;
    else {
      begin();
      if (copied(source, placeOf(to, store.epoch, attempt).directory)) counts.outputs++;
    }
  }
  return counts;
}

/** Copies an output. Returns false if it was pruned meanwhile. */
function copied(from: string, to: string): boolean {
  try {
    copyOutput(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    rmSync(to, { recursive: true, force: true });
    return false;
  }
}
