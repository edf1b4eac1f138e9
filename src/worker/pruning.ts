import { pruneBatch } from '../actions/prune.ts';
import { sweepLifelines } from '../exec/lifeline.ts';
import type { WorkerState } from './state.ts';

const IDLE_INTERVAL_MS = 10_000;
/** The pause between two batches, in which other writers can write. */
const PAUSE_MS = 20;
/** A long run is reported each time it has removed this many jobs. */
const REPORTED_JOBS = 10_000;
const SAMPLE_MS = 60_000;

/** The state of pruning between two batches. */
export interface Pruning {
  /** There may be more to remove. */
  more: boolean;
  /** The removed jobs that have not been reported yet. */
  removed: { jobs: number; bytes: number };
  /** When this worker last sampled the oldest waiting jobs. */
  sampledAt: number;
}

export function newPruning(): Pruning {
  return { more: false, removed: { jobs: 0, bytes: 0 }, sampledAt: 0 };
}

type PruningWorker = Pick<WorkerState, 'app' | 'emit' | 'id' | 'settings' | 'pruning'>;

/**
 * Removes at most one batch of data that is no longer retained, and samples the oldest waiting jobs once a minute. Only the
 * worker that was registered first does this.
 */
export async function prune(worker: PruningWorker): Promise<void> {
  const { app, id, pruning } = worker;
  const [first] = await app.store.workers();
  if (first?.id !== id) {
    pruning.more = false;
    return;
  }
  if (!pruning.more) sweepLifelines(app.stateDirectory, app.clock.now());
  const batch = await pruneBatch(app, worker.settings);
  const now = app.clock.now();
  pruning.more =
    batch.jobs + batch.events > 0 ||
    (await app.store.forgetKeys(now)) > 0 ||
    (await app.store.forgetRollups(now)) > 0;
  report(worker, batch);
  if (Math.abs(now - pruning.sampledAt) < SAMPLE_MS) return;
  pruning.sampledAt = now;
  await app.store.sampleWaiting(now);
}

function report({ emit, id, pruning }: PruningWorker, batch: { jobs: number; bytes: number }): void {
  const jobs = pruning.removed.jobs + batch.jobs;
  pruning.removed = { jobs, bytes: pruning.removed.bytes + batch.bytes };
  if (jobs === 0 || (pruning.more && jobs < REPORTED_JOBS)) return;
  emit({ type: 'jobs-pruned', workerId: id, ...pruning.removed });
  pruning.removed = { jobs: 0, bytes: 0 };
}

export function pruneDelayMs({ pruning }: Pick<WorkerState, 'pruning'>): number {
  return pruning.more ? PAUSE_MS : IDLE_INTERVAL_MS;
}
