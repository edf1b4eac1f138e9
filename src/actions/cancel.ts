import { chooseEndSignal } from '../state/end-signal.ts';
import { placeOfAttempt } from '../state/place.ts';
import { wake } from '../state/wake.ts';
import { type Acted, batches } from './act.ts';
import type { App } from './app.ts';
import { cancelledBecauseOf } from './jobs.ts';

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
    for (const { id, claim } of await app.store.runningJobs())
      if (ids.includes(id)) chooseEndSignal(placeOfAttempt(app, claim.attempt), signal);
  const changed: string[] = [];
  const ending: string[] = [];
  const ended: string[] = [];
  const dependents = new Set<string>();
  for (const batch of batches(ids)) {
    const result = await app.store.cancel(batch, app.clock.now());
    changed.push(...result.cancelled);
    ending.push(...result.ending);
    ended.push(...result.ended);
    for (const id of result.dependents) dependents.add(id);
  }
  if (ending.length + changed.length > 0) wake(app.stateDirectory);
  // A job may have been cancelled with its parent in an earlier batch.
  const unchanged = ended.filter((id) => !dependents.has(id));
  changed.push(...ended.filter((id) => dependents.delete(id)));
  const acted: Acted = { changed, unchanged, why: 'had already finished' };
  if (untilEnded === undefined) return { ...acted, ending, alsoCancelled: [...dependents] };
  const cancelled = await untilEnded(app, ending);
  changed.push(...cancelled);
  // A job that ended by itself, or that nobody here can stop, was not cancelled.
  for (const id of ending.filter((one) => !cancelled.includes(one))) {
    unchanged.push(id);
    if ((await app.store.get(id))?.state === 'processing') acted.why = IN_OTHER_NAMESPACE;
  }
  for (const id of await cancelledBecauseOf(app, cancelled)) dependents.add(id);
  return { ...acted, alsoCancelled: [...dependents.difference(new Set(ids))] };
}
