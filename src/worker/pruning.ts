import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from '../actions/app.ts';
import { pruneBatch } from '../actions/prune.ts';
import { systemClock } from '../core/time/clock.ts';
import { gateTime } from '../exec/lease-clock.ts';
import { sweepLifelines } from '../exec/lifeline.ts';
import { attemptOf, filesOfAttempt, namesByAttempt, removeAll } from '../state/attempt-files.ts';
import { readRecord } from '../state/record.ts';
import type { WorkerState } from './state.ts';

const IDLE_INTERVAL_MS = 10_000;
/** A server has other work, too. */
const IDLE_INTERVAL_ON_SERVER_MS = 30_000;
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

export function pruneDelayMs({ app, pruning }: Pick<WorkerState, 'app' | 'pruning'>): number {
  if (pruning.mayHaveMore) return BATCH_PAUSE_MS;
  return app.store.manyHosts === true ? IDLE_INTERVAL_ON_SERVER_MS : IDLE_INTERVAL_MS;
}

/** Only attempts without a younger file are removed, because a frozen worker may still be about to use a younger one. */
const MIN_AGE_MS = 86_400_000;
/** Pending events are handled after this many attempts, so that a signal does not wait for the whole sweep. */
const ATTEMPTS_PER_TURN = 200;

/** Removes the old files of attempts of this store that are no longer needed, such as those of deleted jobs. Returns of how many. */
export async function sweepAttempts(app: App): Promise<number> {
  const root = app.stateDirectory.attempts;
  let removed = 0;
  let checked = 0;
  for (const [attemptName, names] of namesByAttempt(app.stateDirectory)) {
    if (++checked % ATTEMPTS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    const { epoch, attempt } = attemptOf(attemptName)!;
    if (epoch !== app.store.epoch) continue;
    const paths = names.map((name) => join(root, name));
    const stats = paths.map((path) => lstatSync(path, { throwIfNoEntry: false }));
    if (stats.some((stat) => stat !== undefined && systemClock.now() - stat.mtimeMs < MIN_AGE_MS)) continue;
    if (isYoungGate(app, attempt)) continue;
    if ((await app.store.bytesInFiles(attempt)) !== null) continue;
    for (const path of paths) removeAll(path);
    removed++;
  }
  return removed;
}

/** Tells whether an attempt has a gate that was taken lately. The wall clock may have been set forward since, so it does not count. */
function isYoungGate(app: App, attempt: number): boolean {
  const record = readRecord(filesOfAttempt(app, attempt));
  if (record?.kind !== 'gated' || record.at === null) return false;
  const [[seconds, boot], [secondsNow, bootNow]] = [record.at.split('-'), gateTime().split('-')];
  // A worker that was frozen in an earlier boot is gone.
  return boot === bootNow && (Number(secondsNow) - Number(seconds)) * 1000 < MIN_AGE_MS;
}
