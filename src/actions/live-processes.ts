import type { App } from './app.ts';
import { activeSupervisors, activeWorkers } from './workers.ts';

/** Returns the ids of all live workers. If there are none, returns those of live supervisors, which may be replacing a worker. */
export async function liveProcessIds(app: App): Promise<string[]> {
  const workers = await activeWorkers(app);
  const running = workers.length > 0 ? workers : await activeSupervisors(app);
  return running.map(({ id }) => id);
}
