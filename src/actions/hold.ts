import { type Acted, actOnJobs } from './act.ts';
import type { App } from './app.ts';

/** Keeps waiting jobs from running until they are released. */
export async function holdJobs(app: App, ids: string[]): Promise<Acted> {
  const hold = (batch: string[]): Promise<string[]> => app.store.hold(batch, app.clock.now());
  const acted = await actOnJobs(app, ids, 'are not pending or failed', hold);
  for (const id of acted.unchanged) if (!(await app.store.get(id))?.held) return acted;
  return { ...acted, why: 'are already held' };
}
