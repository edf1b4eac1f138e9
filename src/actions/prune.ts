import { type JobTotals, PRUNED_STATES, type PrunedState, type Retention } from '../core/rules/retention.ts';
import type { Settings } from '../core/settings/settings.ts';
import { pause } from '../core/time/clock.ts';
import { filesOfAttempt, removeFiles } from '../state/attempt-files.ts';
import { type App, currentSettings } from './app.ts';

/** The pause between two batches. Waiting writers try more often than this, so each of them gets its turn. */
const PAUSE_MS = 10;

export interface PrunedJobs extends JobTotals {
  state: PrunedState;
  /** Null means that everything is kept. */
  keep: Retention | null;
}

export interface PruneReport {
  states: PrunedJobs[];
  events: { keep: Retention | null; events: number };
}

/** Removes a batch of jobs with their output files, or of events if no job is left to remove. Returns zeros if nothing is left. */
export async function pruneBatch(app: App, settings: Settings): Promise<JobTotals & { events: number }> {
  for (const state of PRUNED_STATES) {
    const batch = await pruneState(app, state, settings[`keep-${state}`]);
    if (batch.jobs > 0) return { ...batch, events: 0 };
  }
  return { jobs: 0, bytes: 0, events: await pruneEvents(app, settings['keep-events']) };
}

/** Removes all jobs and events that the settings do not retain, and expired idempotency keys and figures. Calls `onProgress` after each batch. */
export async function pruneAll(app: App, onProgress: (removedJobs: number) => void): Promise<PruneReport> {
  const settings = await currentSettings(app);
  let removedJobs = 0;
  const states: PrunedJobs[] = [];
  for (const state of PRUNED_STATES) {
    const keep = settings[`keep-${state}`];
    let bytes = 0;
    const jobs = await untilNoneLeft(async () => {
      const batch = await pruneState(app, state, keep);
      bytes += batch.bytes;
      removedJobs += batch.jobs;
      onProgress(removedJobs);
      return batch.jobs;
    });
    states.push({ state, keep, jobs, bytes });
  }
  await untilNoneLeft(() => app.store.forgetKeys(app.clock.now()));
  await untilNoneLeft(() => app.store.forgetRollups(app.clock.now()));
  const keep = settings['keep-events'];
  return { states, events: { keep, events: await untilNoneLeft(() => pruneEvents(app, keep)) } };
}

/** Calls `removeBatch` until it removes nothing. Returns how many rows were removed in total. */
async function untilNoneLeft(removeBatch: () => Promise<number>): Promise<number> {
  for (let sum = 0; ; await pause(PAUSE_MS)) {
    const removed = await removeBatch();
    if (removed === 0) return sum;
    sum += removed;
  }
}

/** Returns how many jobs and events `pruneAll` would remove, and removes nothing. */
export async function previewPrune(app: App): Promise<PruneReport> {
  const { store, clock } = app;
  const settings = await currentSettings(app);
  const states: PrunedJobs[] = [];
  for (const state of PRUNED_STATES) {
    const keep = settings[`keep-${state}`];
    const prunable = keep === null ? NO_JOBS : await store.prunable(state, keep, clock.now());
    states.push({ state, keep, ...prunable });
  }
  const keep = settings['keep-events'];
  const events = keep === null ? 0 : await store.prunableEvents(keep, clock.now());
  return { states, events: { keep, events } };
}

const NO_JOBS: JobTotals = { jobs: 0, bytes: 0 };

async function pruneEvents(app: App, keep: Retention | null): Promise<number> {
  return keep === null ? 0 : app.store.pruneEvents(keep, app.clock.now());
}

async function pruneState(app: App, state: PrunedState, keep: Retention | null): Promise<JobTotals> {
  if (keep === null) return NO_JOBS;
  const { attempts, ...batch } = await app.store.prune(state, keep, app.clock.now());
  // The files are removed after the commit. After a crash in between, a later `worker start` removes them.
  for (const attempt of attempts) {
    removeFiles(filesOfAttempt(app, attempt));
    // On a slow disk, other work of this process must not wait for all files.
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (batch.jobs > 0) app.wakeups.tellChange();
  return batch;
}
