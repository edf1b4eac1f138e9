import { resolve } from 'node:path';
import { QueueError } from '../core/errors.ts';
import { countOf } from '../core/words.ts';
import { removeAttemptDirectories } from '../exec/running-commands.ts';
import { moveOutputs } from '../state/kept-output.ts';
import { forgetRestoring, noteRestoring } from '../state/restoring.ts';
import { type StateDirectory, stateBeside } from '../state/state-directory.ts';
import { careOf, peekStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { App } from './app.ts';
import { copyOutputs, renewCopy } from './backup.ts';
import { forgetKilledRestore } from './leftovers.ts';
import { refuseRunningCommands, refuseRunningJobs } from './refuse-running.ts';
import { activeWorkers } from './workers.ts';

export interface Restored {
  file: string;
  db: string;
  jobs: number;
  running: number;
  outputs: number;
  /** The path to which the old store was moved, or null if there was none. */
  kept: string | null;
}

/** Replaces the store with a backup and keeps the old store. If that has contents or cannot be read, `confirm` decides. */
export async function restore(
  app: Pick<App, 'clock' | 'random'>,
  location: string,
  file: string,
  anyOwner: boolean,
  confirm: (contents: string) => boolean,
): Promise<Restored | null> {
  const care = await careOf(location);
  const stateDirectory = care.stateDirectoryOf(location);
  let before: string | null = null;
  let noted: string | null = null;
  const restored = await care.replace(location, file, anyOwner, {
    now: () => app.clock.now(),
    async begin(exists) {
      const old = exists ? await inspectOld(app, location, stateDirectory) : { contents: null, epoch: null };
      refuseRunningCommands(stateDirectory);
      before = old.epoch;
      return old.contents === null || confirm(old.contents);
    },
    async renew(copy) {
      await refuseRunningJobs(copy, stateDirectory);
      const { epoch, origin } = copy;
      const counts = await renewCopy(app, copy);
      // The outputs are beside the backup, or still in the state directory if the backup has none.
      const places: [StateDirectory, string | null][] = [
        [stateBeside(resolve(file)), epoch],
        [stateDirectory, epoch],
        [stateDirectory, origin],
      ];
      const onCopy = (): void => {
        if (noted === null) noteRestoring(stateDirectory, copy.epoch);
        noted = copy.epoch;
      };
      let outputs = 0;
      for (const [directory, from] of places) {
        if (outputs > 0 || from === null) continue;
        const source = { epoch: from, stateDirectory: directory };
        ({ outputs } = await copyOutputs(copy, source, stateDirectory, onCopy));
      }
      return { outputs, ...counts };
    },
    onReady: () => forgetKilledRestore(stateDirectory, before),
    // This is checked again, because from now on no worker can start a command.
    onHeld: () => refuseRunningCommands(stateDirectory),
    onEnded(isReplaced) {
      if (noted === null) return;
      if (!isReplaced) removeAttemptDirectories(stateDirectory, noted);
      forgetRestoring(stateDirectory, noted);
    },
  });
  if (restored === null) return null;
  const { renewResult, kept, ...paths } = restored;
  if (kept !== null && before !== null) moveOutputs(stateDirectory, stateBeside(kept), before);
  return { ...paths, ...renewResult, kept };
}

/** The codes of errors that do not mean that the store is unreadable. */
const REFUSALS = new Set(['store-busy', 'wrong-state']);

/** Describes the contents of the old store, or returns null for `contents` if it is empty. Throws while it is used. */
async function inspectOld(
  app: Pick<App, 'clock' | 'random'>,
  location: string,
  stateDirectory: StateDirectory,
): Promise<{ contents: string | null; epoch: string | null }> {
  let store: Store | null = null;
  try {
    store = await peekStore(location);
    if (store === null) return { contents: 'a database of another version', epoch: null };
    const [worker] = await activeWorkers({ ...app, store, stateDirectory, newId: () => '' });
    if (worker !== undefined)
      throw new QueueError(
        'store-busy',
        `worker ${worker.id} is running`,
        'to stop all workers: queuectl worker stop',
      );
    await refuseRunningJobs(store, stateDirectory);
    const jobs = (await store.counts()).reduce((sum, one) => sum + one.jobs, 0);
    const others = (await store.schedules()).length + (await store.settings()).size;
    const contents = jobs > 0 ? countOf(jobs) : others > 0 ? 'contains schedules or settings' : null;
    return { contents, epoch: store.epoch };
  } catch (error) {
    if (error instanceof QueueError && REFUSALS.has(error.code)) throw error;
    // Damage is found when the first damaged page is read, here or later.
    return { contents: 'a database that cannot be read', epoch: null };
  } finally {
    await store?.close();
  }
}
