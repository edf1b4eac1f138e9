import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from '../actions/app.ts';
import { systemClock } from '../core/clock.ts';
import { attemptOf, namesByAttempt, removeAll } from '../state/place.ts';

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
    if (await app.store.needsPlace(attempt)) continue;
    for (const path of paths) removeAll(path);
    removed++;
  }
  return removed;
}
