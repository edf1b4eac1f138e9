import { type Acted, cancelJobs } from '../actions/act.ts';
import type { App } from '../actions/app.ts';
import { cutOffBy } from '../actions/jobs.ts';
import { untilEnded } from './orphans.ts';

const OUT_OF_SIGHT =
  'were running in another pid namespace, where only a worker of that namespace can stop them';

/** Cancels jobs and waits until their processes are gone. Ends running jobs itself if their worker is gone. */
export async function cancel(app: App, ids: string[]): Promise<Acted> {
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
