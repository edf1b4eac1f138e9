import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from '../actions/app.ts';
import { attemptOf, placeOf, removePlace } from '../state/place.ts';

/** Old enough that no frozen worker can still be about to use it. */
const AGE_MS = 86_400_000;
/** A signal that comes meanwhile is not to wait for the whole sweep. */
const AT_ONCE = 200;

/** Removes directories that no attempt needs: output moved into the store, jobs deleted, gates that were taken. */
export async function sweepAttempts(app: App): Promise<number> {
  const root = app.stateDirectory.attempts;
  let removed = 0;
  let looked = 0;
  for (const name of readdirSync(root)) {
    if (++looked % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
    const found = attemptOf(name);
    if (found?.epoch !== app.store.epoch) continue;
    const { attempt } = found;
    const stat = statSync(join(root, name), { throwIfNoEntry: false });
    if (stat === undefined || app.clock.now() - stat.mtimeMs < AGE_MS) continue;
    if (await app.store.needsPlace(attempt)) continue;
    removePlace(placeOf(app.stateDirectory, app.store.epoch, attempt));
    removed++;
  }
  return removed;
}
