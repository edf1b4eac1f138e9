import { type Acted, cancelJobs } from '../actions/act.ts';
import type { App } from '../actions/app.ts';
import { cutOffBy } from '../actions/jobs.ts';
import { chooseEndSignal } from '../state/end-signal.ts';
import { placeOf } from '../state/place.ts';
import { untilEnded } from './orphans.ts';

const OUT_OF_SIGHT =
  'were running in another pid namespace, where only a worker of that namespace can stop them';

/**
 * Cancels jobs and waits until their processes are gone. Ends running jobs itself if their worker is gone. `signal` is the first
 * signal for them, if it is not SIGTERM.
 */
export async function cancel(app: App, ids: string[], signal?: NodeJS.Signals): Promise<Acted> {
  if (signal !== undefined)
    for (const { id, claim } of await app.store.running())
      if (ids.includes(id))
        chooseEndSignal(placeOf(app.stateDirectory, app.store.epoch, claim.attempt), signal);
  const { ending = [], alsoCancelled = [], ...acted } = await cancelJobs(app, ids);
  const cancelled = await untilEnded(app, ending);
  // A job that ended by itself in the meantime was not cancelled.
  const missed = ending.filter((id) => !cancelled.includes(id));
  for (const id of missed) if ((await app.store.get(id))?.state === 'processing') acted.why = OUT_OF_SIGHT;
  const further = new Set([...alsoCancelled, ...(await cutOffBy(app, cancelled))]);
  return {
    ...acted,
    changed: [...acted.changed, ...cancelled],
    unchanged: [...acted.unchanged, ...missed],
    alsoCancelled: [...further.difference(new Set(ids))],
  };
}
