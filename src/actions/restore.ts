import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { QueueError } from '../core/errors.ts';
import { countOf } from '../core/words.ts';
import { newDraft, removeDraft } from '../exec/drafts.ts';
import { syncFile } from '../exec/durable.ts';
import { moveOutputs, removeOutputs } from '../exec/kept-output.ts';
import { forgetRestoring, noteRestoring } from '../exec/restoring.ts';
import { checkOwner, copyStore, openCopy, peekStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { App } from './app.ts';
import { keepOutputs, makeOwn } from './backup.ts';
import { refuseLiving, refuseLivingJobs } from './refuse-living.ts';
import { refuseSecondName } from './store-files.ts';
import { keepOutputsOf } from './stray-outputs.ts';
import { fillName, refuseWhileUsed, swap, takeName, takeStore } from './swap.ts';
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

/**
 * Puts a backup in the place of the store. It is copied, checked and renewed beside it first, then takes its name in one step;
 * what was there is kept. `sure`: also when that holds jobs, or cannot be read.
 */
export async function restore(
  app: Pick<App, 'clock' | 'random'>,
  location: string,
  file: string,
  anyOwner: boolean,
  sure: (what: string) => boolean,
): Promise<Restored | null> {
  const db = existsSync(location) ? realpathSync(location) : resolve(location);
  const source = resolve(file);
  refuseMissing(source, db);
  await refuseStranger(source);
  await checkOwner(resolve(location), anyOwner);
  await refuseSecondName(db);
  refuseWhileUsed(db);
  const before = await whatIsThere(app, location, `${db}.d`);
  refuseLiving(`${db}.d`);
  if (before.held !== null && !sure(before.held)) return null;
  mkdirSync(dirname(db), { recursive: true, mode: 0o700 });
  const draft = newDraft(db);
  let noted: string | null = null;
  try {
    await copyStore(source, draft);
    await refuseLiveAttempts(draft, `${db}.d`);
    const made = await makeOwn(app, draft, async (store, epoch, origin) => {
      // With it, or, when a backup without its outputs has come back, where they still are.
      const places: [string, string | null][] = [
        [`${source}.d`, epoch],
        [`${db}.d`, epoch],
        [`${db}.d`, origin],
      ];
      let outputs = 0;
      const begin = (): void => {
        if (noted === null) noteRestoring(`${db}.d`, store.epoch);
        noted = store.epoch;
      };
      for (const [stateDirectory, from] of places) {
        if (outputs === 0 && from !== null)
          ({ outputs } = await keepOutputs(store, { epoch: from, stateDirectory }, `${db}.d`, begin));
      }
      return { outputs };
    });
    syncFile(draft);
    if (existsSync(db)) keepOutputsOf(`${db}.d`, before.epoch);
    const kept = await putThere(draft, db, app.clock.now());
    noted = forget(`${db}.d`, noted);
    if (kept !== null && before.epoch !== null) moveOutputs(`${db}.d`, `${kept}.d`, before.epoch);
    return { file: source, db, ...made, kept };
  } finally {
    // As long as it is there, it has not become the store.
    if (noted !== null && existsSync(draft)) removeOutputs(`${db}.d`, noted);
    forget(`${db}.d`, noted);
    removeDraft(draft);
  }
}

function forget(stateDirectory: string, noted: string | null): null {
  if (noted !== null) forgetRestoring(stateDirectory, noted);
  return null;
}

/** Where what was there is kept now; null: nothing was. */
async function putThere(draft: string, db: string, now: number): Promise<string | null> {
  const old = await takeStore(db);
  const held = old ?? (await takeName(db));
  try {
    // Nobody can start one any more.
    refuseLiving(`${db}.d`);
    if (old !== null) return swap(draft, db, old, { word: 'before', now });
    fillName(draft, db, now);
    return null;
  } finally {
    held.letGo();
  }
}

function refuseMissing(source: string, db: string): void {
  if (!existsSync(source)) throw new QueueError('no-such-file', `${source} does not exist`);
  if (existsSync(db) && realpathSync(source) === db)
    throw new QueueError(
      'usage',
      `${source} is the store itself`,
      'name the backup file, and give the store with --db',
    );
}

/** Looked at before anybody is asked about what it would replace. */
async function refuseStranger(source: string): Promise<void> {
  try {
    await (await peekStore(source))?.close();
  } catch (error) {
    if (!(error instanceof QueueError) || error.code !== 'not-a-database') throw error;
    throw new QueueError(error.code, error.message, 'use a file created by queuectl backup');
  }
}

/** What is to be said of a store that can be read. */
const REFUSALS = new Set(['store-busy', 'wrong-state']);

/** What would be replaced, in words; null: nothing that anybody would miss. */
async function whatIsThere(
  app: Pick<App, 'clock' | 'random'>,
  location: string,
  stateDirectory: string,
): Promise<{ held: string | null; epoch: string | null }> {
  if (!existsSync(location)) return { held: null, epoch: null };
  let store: Store | null = null;
  try {
    store = await peekStore(location);
    if (store === null) return { held: 'a store of another version', epoch: null };
    const [worker] = await activeWorkers({ ...app, store, stateDirectory, newId: () => '' });
    if (worker !== undefined)
      throw new QueueError('store-busy', `worker ${worker.id} is running`, 'queuectl worker stop');
    await refuseLivingJobs(store, stateDirectory);
    const jobs = (await store.counts()).reduce((sum, one) => sum + one.jobs, 0);
    const others = (await store.schedules()).length + (await store.settings()).size;
    const held = jobs > 0 ? countOf(jobs) : others > 0 ? 'schedules or settings' : null;
    return { held, epoch: store.epoch };
  } catch (error) {
    if (error instanceof QueueError && REFUSALS.has(error.code)) throw error;
    // Damage shows at the first page that is met, here or later.
    return { held: 'a store that cannot be read', epoch: null };
  } finally {
    await store?.close();
  }
}

async function refuseLiveAttempts(draft: string, stateDirectory: string): Promise<void> {
  const store = await openCopy(draft);
  try {
    await refuseLivingJobs(store, stateDirectory);
  } finally {
    await store.close();
  }
}
