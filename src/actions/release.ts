import { type Acted, actOnJobs } from './act.ts';
import type { App } from './app.ts';

export function releaseJobs(app: App, ids: string[]): Promise<Acted> {
  return actOnJobs(app, ids, 'are not held', (batch) => app.store.release(batch, app.clock.now()));
}
