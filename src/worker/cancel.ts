import { type Acted, cancelJobs } from '../actions/act.ts';
import type { App } from '../actions/app.ts';
import { untilEnded } from './orphans.ts';

/** Cancels jobs, and waits until nothing of those that ran is left; where no worker is there to end them, it does. */
export async function cancel(app: App, ids: string[]): Promise<Acted> {
  const { ending = [], ...acted } = await cancelJobs(app, ids);
  const cancelled = await untilEnded(app, ending);
  // One that ended by itself in the last moment was not cancelled.
  const missed = ending.filter((id) => !cancelled.includes(id));
  return {
    ...acted,
    changed: [...acted.changed, ...cancelled],
    unchanged: [...acted.unchanged, ...missed],
  };
}
