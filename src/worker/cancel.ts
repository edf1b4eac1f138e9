import { type Acted, cancelJobs } from '../actions/act.ts';
import type { App } from '../actions/app.ts';
import { untilEnded } from './orphans.ts';

/** Cancels jobs and waits until nothing of them runs, whether a worker lives to end them or not. */
export async function cancelToTheEnd(app: App, ids: string[]): Promise<Acted> {
  const acted = await cancelJobs(app, ids);
  const ending = acted.ending ?? [];
  const cancelled = await untilEnded(app, ending);
  // One that ended by itself in the last moment was not cancelled.
  const missed = ending.filter((id) => !cancelled.includes(id));
  return {
    ...acted,
    changed: [...acted.changed, ...cancelled],
    unchanged: [...acted.unchanged, ...missed],
  };
}
