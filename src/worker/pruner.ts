import type { App } from '../actions/app.ts';
import { pruneBatch } from '../actions/prune.ts';
import type { Emit } from '../core/events.ts';
import type { Settings } from '../core/settings.ts';
import { sweepLifelines } from '../exec/lifeline.ts';

const LOOK_MS = 10_000;
/** Between two batches: the other writers get their turn. */
const PAUSE_MS = 20;
/** A long clean-up is told of every so many jobs. */
const TOLD_JOBS = 10_000;

export interface Pruner {
  /** Removes at most one batch of what the retention settings let go, and the lifelines of workers that are gone. */
  runOnce(): Promise<void>;
  /** When to call it again. */
  delayMs(): number;
}

/** The worker that was registered first prunes, the others look on: should two ever think they are first, no harm is done. */
export function createPruner(app: App, workerId: string, settings: () => Settings, emit: Emit): Pruner {
  let more = false;
  let told = { jobs: 0, bytes: 0 };
  return {
    async runOnce() {
      const [first] = await app.store.workers();
      if (first?.id !== workerId) {
        more = false;
        return;
      }
      if (!more) sweepLifelines(app.stateDirectory, app.clock.now());
      const batch = await pruneBatch(app, settings());
      const now = app.clock.now();
      more =
        batch.jobs + batch.events > 0 ||
        (await app.store.forgetKeys(now)) > 0 ||
        (await app.store.forgetRollups(now)) > 0;
      told = { jobs: told.jobs + batch.jobs, bytes: told.bytes + batch.bytes };
      if (told.jobs === 0 || (more && told.jobs < TOLD_JOBS)) return;
      emit({ type: 'jobs-pruned', workerId, ...told });
      told = { jobs: 0, bytes: 0 };
    },
    delayMs: () => (more ? PAUSE_MS : LOOK_MS),
  };
}
