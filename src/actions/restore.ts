import { resolve } from 'node:path';
import { QueueError } from '../core/errors.ts';
import { countOf } from '../core/words.ts';
import { removeAttempts } from '../exec/running-commands.ts';
import { moveOutputs } from '../state/kept-output.ts';
import { forgetRestoring, noteRestoring } from '../state/restoring.ts';
import { type StateDirectory, stateBeside } from '../state/state-directory.ts';
import { careOf, peekStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { App } from './app.ts';
import { copyOutputs, renewCopy } from './backup.ts';
import { forgetKilledRestores } from './leftovers.ts';
import { throwIfCommandsRun, throwIfJobsRun } from './throw-if-running.ts';
import { activeWorkers } from './workers.ts';

export interface RestoreResult {
  file: string;
  db: string;
  jobs: number;
  /** The number of jobs that were running in the backup. Their attempts count as lost. */
  running: number;
  outputs: number;
  /** The path to which the old store was moved, or null if there was none. */
  kept: string | null;
}

/**
 * Replaces the store with a backup and keeps the old store. If the old store has contents or cannot be read, `confirm` decides.
 * Returns null if `confirm` returns false. `anyOwner` also replaces a store that belongs to another user.
 */
export async function restore(
  app: Pick<App, 'clock' | 'random'>,
  location: string,
  file: string,
  anyOwner: boolean,
  confirm: (contents: string) => boolean,
): Promise<RestoreResult | null> {
  const care = await careOf(location);
  const stateDirectory = care.stateDirectoryOf(location);
  let oldEpoch: string | null = null;
  let notedEpoch: string | null = null;
  const restored = await care.replace(location, file, anyOwner, {
    now: () => app.clock.now(),
    async begin(hasOld) {
      const old = hasOld ? await inspectOldStore(location, stateDirectory) : { contents: null, epoch: null };
      throwIfCommandsRun(stateDirectory);
      oldEpoch = old.epoch;
      return old.contents === null || confirm(old.contents);
    },
    async renew(copy) {
      await throwIfJobsRun(copy, stateDirectory);
      const { epoch, origin } = copy;
      const counts = await renewCopy(app, copy);
      // The outputs are beside the backup, or still in the state directory if the backup has none.
      const sources: [StateDirectory, string | null][] = [
        [stateBeside(resolve(file)), epoch],
        [stateDirectory, epoch],
        [stateDirectory, origin],
      ];
      const onCopy = (): void => {
        if (notedEpoch === null) noteRestoring(stateDirectory, copy.epoch);
        notedEpoch = copy.epoch;
      };
      let outputs = 0;
      for (const [directory, sourceEpoch] of sources) {
        if (outputs > 0 || sourceEpoch === null) continue;
        const source = { epoch: sourceEpoch, stateDirectory: directory };
        ({ outputs } = await copyOutputs(copy, source, stateDirectory, onCopy));
      }
      return { outputs, ...counts };
    },
    onReady: () => forgetKilledRestores(stateDirectory, oldEpoch),
    // This is checked again, because a worker may have started a command since `begin`. No worker can start one now.
    onHeld: () => throwIfCommandsRun(stateDirectory),
    onEnded(isReplaced) {
      if (notedEpoch === null) return;
      if (!isReplaced) removeAttempts(stateDirectory, notedEpoch);
      forgetRestoring(stateDirectory, notedEpoch);
    },
  });
  if (restored === null) return null;
  const { renewResult, kept, ...paths } = restored;
  if (kept !== null && oldEpoch !== null) moveOutputs(stateDirectory, stateBeside(kept), oldEpoch);
  return { ...paths, ...renewResult, kept };
}

/** Errors with these codes stop the restore. Any other error means that the old store cannot be read. */
const FATAL_CODES = new Set(['store-busy', 'wrong-state']);

/** Describes the old store. `contents` is null if the store is empty. Throws if it has a live worker or a running job. */
async function inspectOldStore(location: string, state: StateDirectory) {
  let store: Store | null = null;
  try {
    store = await peekStore(location);
    if (store === null) return { contents: 'a database of another version', epoch: null };
    const [worker] = await activeWorkers({ store, stateDirectory: state });
    if (worker !== undefined)
      throw new QueueError(
        'store-busy',
        `worker ${worker.id} is running`,
        'to stop all workers: queuectl worker stop',
      );
    await throwIfJobsRun(store, state);
    const jobs = (await store.counts()).reduce((sum, one) => sum + one.jobs, 0);
    const otherRows = (await store.schedules()).length + (await store.settings()).size;
    const contents = jobs > 0 ? countOf(jobs) : otherRows > 0 ? 'contains schedules or settings' : null;
    return { contents, epoch: store.epoch };
  } catch (error) {
    if (error instanceof QueueError && FATAL_CODES.has(error.code)) throw error;
    // A damaged store may open without an error. Then one of the reads above fails.
    return { contents: 'a database that cannot be read', epoch: null };
  } finally {
    await store?.close();
  }
}
