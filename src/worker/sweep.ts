import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from '../actions/app.ts';
import { systemClock } from '../core/clock.ts';
import { attemptOf, placeOfAttempt, removePlace } from '../state/place.ts';

/** Only directories older than this are removed, because a frozen worker may still be about to use a younger one. */
const MIN_AGE_MS = 86_400_000;
/** Pending events are handled after this many directories, so that a signal does not wait for the whole sweep. */
const DIRECTORIES_PER_TURN = 200;

/** Removes old attempt directories of this store that are no longer needed, such as those of deleted jobs. Returns how many. */
export async function sweepAttempts(app: App): Promise<number> {
  const root = app.stateDirectory.attempts;
  let removed = 0;
  let checked = 0;
  for (const name of readdirSync(root)) {
    if (++checked % DIRECTORIES_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    const found = attemptOf(name);
    if (found?.epoch !== app.store.epoch) continue;
    const { attempt } = found;
    const stat = statSync(join(root, name), { throwIfNoEntry: false });
    if (stat === undefined || systemClock.now() - stat.mtimeMs < MIN_AGE_MS) continue;
    if (await app.store.needsPlace(attempt)) continue;
    removePlace(placeOfAttempt(app, attempt));
    removed++;
  }
  return removed;
}
