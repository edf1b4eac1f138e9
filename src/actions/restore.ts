import { resolve } from 'node:path';
import { QueueError } from '../core/errors.ts';
import { countOf } from '../core/words.ts';
import { removeOutputs } from '../exec/living.ts';
import { moveOutputs } from '../state/kept-output.ts';
import { forgetRestoring, noteRestoring } from '../state/restoring.ts';
import { type StateDirectory, stateBeside } from '../state/state-directory.ts';
import { careOf, peekStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { App } from './app.ts';
import { keepOutputs, renewCopy } from './backup.ts';
import { keepOutputsOf } from './leftovers.ts';
import { refuseLiving, refuseLivingJobs } from './refuse-living.ts';
import { activeWorkers } from './workers.ts';

export interface Restored {
  file: string;
  db: string;
  jobs: number;
  running: number;
  outputs: number;
  /** Where the store that was there before is now; null: there was none. */
  kept: string | null;
}

/** Replaces the store with a backup and keeps the old one. `sure` is called if that holds jobs or cannot be read. */
export async function restore(
  app: Pick<App, 'clock' | 'random'>,
  location: string,
  file: string,
  anyOwner: boolean,
  sure: (what: string) => boolean,
): Promise<Restored | null> {
  const care = await careOf(location);
  const stateDirectory = care.stateOf(location);
  let before: string | null = null;
  let noted: string | null = null;
  const restored = await care.replace(location, file, anyOwner, {
    now: () => app.clock.now(),
    async begin(exists) {
      const old = exists ? await whatIsThere(app, location, stateDirectory) : { held: null, epoch: null };
      refuseLiving(stateDirectory);
      before = old.epoch;
      return old.held === null || sure(old.held);
    },
    async renew(copy) {
      await refuseLivingJobs(copy, stateDirectory);
      const { epoch, origin } = copy;
      const counts = await renewCopy(app, copy);
      // The outputs are beside the backup, or still in the state directory if it has none.
      const places: [StateDirectory, string | null][] = [
        [stateBeside(resolve(file)), epoch],
        [stateDirectory, epoch],
        [stateDirectory, origin],
      ];
      const begin = (): void => {
        if (noted === null) noteRestoring(stateDirectory, copy.epoch);
        noted = copy.epoch;
      };
      let outputs = 0;
      for (const [directory, from] of places) {
        if (outputs > 0 || from === null) continue;
        const source = { epoch: from, stateDirectory: directory };
        ({ outputs } = await keepOutputs(copy, source, stateDirectory, begin));
      }
      return { outputs, ...counts };
    },
    ready: () => keepOutputsOf(stateDirectory, before),
    // Checked again, because now nobody can start a command any more.
    held: () => refuseLiving(stateDirectory),
    ended(isReplaced) {
      if (noted === null) return;
      if (!isReplaced) removeOutputs(stateDirectory, noted);
      forgetRestoring(stateDirectory, noted);
    },
  });
  if (restored === null) return null;
  const { made, kept, ...paths } = restored;
  if (kept !== null && before !== null) moveOutputs(stateDirectory, stateBeside(kept), before);
  return { ...paths, ...made, kept };
}

/** The errors that concern a store which can be read. */
const REFUSALS = new Set(['store-busy', 'wrong-state']);

/** Describes the contents of the store that would be replaced; null: there is nothing to lose. */
async function whatIsThere(
  app: Pick<App, 'clock' | 'random'>,
  location: string,
  stateDirectory: StateDirectory,
): Promise<{ held: string | null; epoch: string | null }> {
  let store: Store | null = null;
  try {
    store = await peekStore(location);
    if (store === null) return { held: 'a database of another version', epoch: null };
    const [worker] = await activeWorkers({ ...app, store, stateDirectory, newId: () => '' });
    if (worker !== undefined)
      throw new QueueError(
        'store-busy',
        `worker ${worker.id} is running`,
        'to stop all workers: queuectl worker stop',
      );
    await refuseLivingJobs(store, stateDirectory);
    const jobs = (await store.counts()).reduce((sum, one) => sum + one.jobs, 0);
    const others = (await store.schedules()).length + (await store.settings()).size;
    const held = jobs > 0 ? countOf(jobs) : others > 0 ? 'contains schedules or settings' : null;
    return { held, epoch: store.epoch };
  } catch (error) {
    if (error instanceof QueueError && REFUSALS.has(error.code)) throw error;
    // Damage shows when the first damaged page is read, here or later.
    return { held: 'a database that cannot be read', epoch: null };
  } finally {
    await store?.close();
  }
}
