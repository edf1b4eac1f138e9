import { chooseEndSignal } from '../state/end-signal.ts';
import { placeOfAttempt } from '../state/place.ts';
import { wake } from '../state/wake.ts';
import { type Acted, batches } from './act.ts';
import type { App } from './app.ts';

const IN_OTHER_NAMESPACE =
  'were running in another pid namespace, where only a worker of that namespace can stop them';

interface CancelOptions {
  /** Waits for the end of running jobs. */
  untilEnded?: (app: App, ids: string[]) => Promise<string[]>;
  /** The first signal for running jobs, if it is not SIGTERM. */
  signal?: NodeJS.Signals | undefined;
}

/** Cancels waiting jobs and asks running ones to end. `ending` lists the latter, unless `untilEnded` is given to wait for them. */
export async function cancelJobs(
  app: App,
  ids: string[],
  { untilEnded, signal }: CancelOptions = {},
): Promise<Acted> {
  if (signal !== undefined)
    for (const { id, claim } of await app.store.running())
      if (ids.includes(id)) chooseEndSignal(placeOfAttempt(app, claim.attempt), signal);
  const ending: string[] = [];
  const acted: Acted = { changed: [], unchanged: [], why: 'had already finished' };
  for (const batch of batches(ids)) {
    const result = await app.store.cancel(batch, app.clock.now());
    acted.changed.push(...result.cancelled);
    acted.unchanged.push(...result.ended);
    ending.push(...result.ending);
  }
  if (ending.length + acted.changed.length > 0) wake(app.stateDirectory);
  if (untilEnded === undefined) return { ...acted, ending };
  const cancelled = await untilEnded(app, ending);
  acted.changed.push(...cancelled);
  // A job that ended by itself, or that nobody here can stop, was not cancelled.
  for (const id of ending.filter((one) => !cancelled.includes(one))) {
    acted.unchanged.push(id);
    if ((await app.store.get(id))?.state === 'processing') acted.why = IN_OTHER_NAMESPACE;
  }
  return acted;
}
