import { pause } from '../core/clock.ts';
import { type JobTotals, PRUNED_STATES, type PrunedState, type Retention } from '../core/retention.ts';
import type { Settings } from '../core/settings.ts';
import { placeOf, removePlace } from '../state/place.ts';
import { tellChange } from '../state/wake.ts';
import { type App, currentSettings } from './app.ts';

/** Between two batches: as long as the slowest of the other writers sleeps between its tries, so that it gets its turn. */
const PAUSE_MS = 10;

export interface PrunedObject extends JobTotals {
  state: PrunedState;
  /** Null: everything is kept. */
  keep: Retention | null;
}

export interface PrunedEvents {
  keep: Retention | null;
  events: number;
}

/** One batch of what the settings let go, with its output files; neither jobs nor events: nothing is left to remove. */
export async function pruneBatch(app: App, settings: Settings): Promise<JobTotals & { events: number }> {
  for (const state of PRUNED_STATES) {
    const keep = settings[`keep-${state}`];
    const batch = keep === null ? null : await pruneState(app, state, keep);
    if (batch !== null && batch.jobs > 0) return { ...batch, events: 0 };
  }
  return { jobs: 0, bytes: 0, events: await pruneEvents(app, settings['keep-events']) };
}

/** All that the settings let go, state by state; `progress` hears of every batch. */
export async function pruneAll(app: App, progress: (jobs: number) => void): Promise<PrunedObject[]> {
  const settings = await currentSettings(app);
  let total = 0;
  const pruned: PrunedObject[] = [];
  for (const state of PRUNED_STATES) {
    const keep = settings[`keep-${state}`];
    const sum = { state, keep, jobs: 0, bytes: 0 };
    while (keep !== null) {
      const batch = await pruneState(app, state, keep);
      if (batch.jobs === 0) break;
      sum.jobs += batch.jobs;
      sum.bytes += batch.bytes;
      total += batch.jobs;
      progress(total);
      await pause(PAUSE_MS);
    }
    pruned.push(sum);
  }
  while ((await app.store.forgetKeys(app.clock.now())) > 0) await pause(PAUSE_MS);
  while ((await app.store.forgetRollups(app.clock.now())) > 0) await pause(PAUSE_MS);
  return pruned;
}

/** All events that the settings let go. Answers how many. */
export async function pruneAllEvents(app: App): Promise<PrunedEvents> {
  const keep = (await currentSettings(app))['keep-events'];
  let events = 0;
  for (;;) {
    const batch = await pruneEvents(app, keep);
    if (batch === 0) return { keep, events };
    events += batch;
    await pause(PAUSE_MS);
  }
}

/** The same without removing anything. */
export async function wouldPruneEvents(app: App): Promise<PrunedEvents> {
  const keep = (await currentSettings(app))['keep-events'];
  return { keep, events: keep === null ? 0 : await app.store.prunableEvents(keep, app.clock.now()) };
}

async function pruneEvents(app: App, keep: Retention | null): Promise<number> {
  return keep === null ? 0 : app.store.pruneEvents(keep, app.clock.now());
}

/** Which jobs would go, without removing any. */
export async function wouldPrune(app: App): Promise<PrunedObject[]> {
  const settings = await currentSettings(app);
  const pruned: PrunedObject[] = [];
  for (const state of PRUNED_STATES) {
    const keep = settings[`keep-${state}`];
    const held =
      keep === null ? { jobs: 0, bytes: 0 } : await app.store.prunable(state, keep, app.clock.now());
    pruned.push({ state, keep, ...held });
  }
  return pruned;
}

async function pruneState(app: App, state: PrunedState, keep: Retention): Promise<JobTotals> {
  const { attempts, ...batch } = await app.store.prune(state, keep, app.clock.now());
  // After the commit: a crash in between leaves directories that nobody needs, and the next sweep takes those.
  for (const attempt of attempts) {
    removePlace(placeOf(app.stateDirectory, app.store.epoch, attempt));
    // One file at a time, so that nothing else in this process waits for a slow disk.
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (batch.jobs > 0) tellChange(app.stateDirectory);
  return batch;
}
