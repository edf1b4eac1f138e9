import { rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import { resolveSettings } from '../core/stored-settings.ts';
import { newDraft, removeDraft } from '../exec/drafts.ts';
import { syncFile } from '../exec/durable.ts';
import { attemptsIn, copyOutput, removeOutputs } from '../exec/kept-output.ts';
import { placeOf } from '../exec/place.ts';
import { checkDraftPlace, checkOwner, copyStore, openCopy } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { App } from './app.ts';
import { loser } from './lose.ts';
import {
  putInPlace,
  refuseBeside,
  refuseExisting,
  refusePart,
  refusePlace,
  refuseStore,
  replaceDatabase,
  replacedEpoch,
} from './target.ts';

export interface BackupOptions {
  /** Replace a file that is there. */
  force: boolean;
  /** Keep long output too, in FILE.d. */
  withOutput: boolean;
  /** Also beside files of somebody else, or that others can write. */
  anyOwner: boolean;
}

export interface Backup {
  file: string;
  bytes: number;
  jobs: number;
  /** Jobs that ran at that moment: in the backup they are lost attempts. */
  running: number;
  /** Long outputs that are in FILE.d, and those that were left out. */
  outputs: number;
  outputs_left: number;
}

/**
 * A backup is a store of its own: one moment of the queue, its running attempts counted as lost, under another epoch, so that
 * nothing of the original is ever taken for the backup's. It stands under its name only when it is whole, checked and on disk.
 */
export async function backup(
  app: App,
  location: string,
  file: string,
  options: BackupOptions,
): Promise<Backup> {
  const target = resolve(file);
  refusePlace(dirname(target));
  await checkDraftPlace(dirname(target), options.anyOwner);
  if (!options.force) refuseExisting(target);
  refuseStore(target, location);
  refusePart(target);
  if (!options.force) refuseBeside(target);
  const replaced = options.force ? await replacedEpoch(target) : null;
  // Whoever else can write FILE.d could lead the outputs anywhere.
  if (options.withOutput) await checkOwner(target, options.anyOwner);
  const draft = newDraft(target);
  try {
    crashPoint('before-backup');
    await copyStore(location, draft);
    const made = await makeOwn(app, draft, (store, epoch) =>
      keepOutputs(
        store,
        { epoch, stateDirectory: app.stateDirectory },
        options.withOutput ? `${target}.d` : null,
      ),
    );
    syncFile(draft);
    crashPoint('in-backup');
    if (options.force) await replaceDatabase(draft, target, options.anyOwner);
    else putInPlace(draft, target);
    crashPoint('after-backup');
    syncFile(target);
    if (replaced !== null && replaced !== app.store.epoch && (await isOurs(target, options.anyOwner)))
      removeOutputs(`${target}.d`, replaced);
    return { file: target, bytes: statSync(target).size, ...made };
  } finally {
    removeDraft(draft);
  }
}

/** Whoever else can write FILE.d could lead the removal anywhere. */
async function isOurs(target: string, anyOwner: boolean): Promise<boolean> {
  try {
    await checkOwner(target, anyOwner);
    return true;
  } catch {
    return false;
  }
}

/** Renews a copy; `outputs` is called with it and the epochs it had before, the last one first. */
export async function makeOwn<T>(
  app: Pick<App, 'clock' | 'random'>,
  draft: string,
  outputs: (store: Store, epoch: string, origin: string | null) => Promise<T>,
): Promise<T & { jobs: number; running: number }> {
  const store = await openCopy(draft);
  try {
    const { epoch, origin } = store;
    const running = (await store.running()).length;
    const settings = resolveSettings(await store.settings());
    await store.renew(loser(settings, app.clock.now(), app.random));
    const jobs = (await store.counts()).reduce((sum, one) => sum + one.jobs, 0);
    return { ...(await outputs(store, epoch, origin)), jobs, running };
  } finally {
    await store.close();
  }
}

/**
 * Copies the long outputs that the store refers to from where they are to where its new epoch looks for them; `begin` is called
 * before each of them.
 */
export async function keepOutputs(
  store: Store,
  from: { epoch: string; stateDirectory: string },
  to: string | null,
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

/** False: it was pruned in between. */
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
