import { pruneBatch } from '../actions/prune.ts';
import { systemClock } from '../core/clock.ts';
import { sweepLifelines } from '../exec/lifeline.ts';
import type { WorkerState } from './state.ts';

const IDLE_INTERVAL_MS = 10_000;
/** The pause between two batches, in which other writers can write. */
const BATCH_PAUSE_MS = 20;
/** A long run is reported each time it has removed this many jobs. */
const REPORTED_JOBS = 10_000;
const SAMPLE_INTERVAL_MS = 60_000;

/** The state of pruning between two batches. */
export interface Pruning {
  /** Whether there may be more to remove. */
  mayHaveMore: boolean;
  /** The number of removed jobs that are not reported yet, and the bytes of their output. */
  unreported: { jobs: number; bytes: number };
  /** When this worker last sampled the oldest waiting jobs, by the wall clock. */
  sampledAt: number;
}

export function newPruning(): Pruning {
  return { mayHaveMore: false, unreported: { jobs: 0, bytes: 0 }, sampledAt: 0 };
}

type PruningWorker = Pick<WorkerState, 'app' | 'emit' | 'id' | 'settings' | 'pruning'>;

/**
 * Removes one batch of jobs and events, idempotency keys, rollups and lifelines that are no longer needed, and samples the
 * oldest waiting jobs once a minute. Only the worker that started first does this.
 */
export async function prune(worker: PruningWorker): Promise<void> {
  const { app, id, pruning } = worker;
  const [firstWorker] = await app.store.workers();
  if (firstWorker?.id !== id) {
    pruning.mayHaveMore = false;
    return;
  }
  if (!pruning.mayHaveMore) sweepLifelines(app.stateDirectory, systemClock.now());
  const batch = await pruneBatch(app, worker.settings);
  const now = app.clock.now();
  pruning.mayHaveMore =
    batch.jobs + batch.events > 0 ||
    (await app.store.forgetKeys(now)) > 0 ||
    (await app.store.forgetRollups(now)) > 0;
  report(worker, batch);
  if (Math.abs(now - pruning.sampledAt) < SAMPLE_INTERVAL_MS) return;
  pruning.sampledAt = now;
  await app.store.sampleWaiting(now);
}

function report({ emit, id, pruning }: PruningWorker, batch: { jobs: number; bytes: number }): void {
  const jobs = pruning.unreported.jobs + batch.jobs;
  pruning.unreported = { jobs, bytes: pruning.unreported.bytes + batch.bytes };
  if (jobs === 0 || (pruning.mayHaveMore && jobs < REPORTED_JOBS)) return;
  emit({ type: 'jobs-pruned', workerId: id, ...pruning.unreported });
  pruning.unreported = { jobs: 0, bytes: 0 };
}

export function pruneDelayMs({ pruning }: Pick<WorkerState, 'pruning'>): number {
  return pruning.mayHaveMore ? BATCH_PAUSE_MS : IDLE_INTERVAL_MS;
}
