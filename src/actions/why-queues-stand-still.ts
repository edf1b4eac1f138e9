import { toIso } from '../core/time.ts';
import type { App } from './app.ts';
import { activeWorkers, serves, takesJobs } from './workers.ts';

/** Returns sentences that explain why jobs of these queues do not start: a queue is paused, or no worker serves it. */
export async function whyQueuesStandStill(app: App, queues: string[]): Promise<string[]> {
  const reasons: string[] = [];
  for (const { name, pausedAt, pausedBy } of await app.store.queues()) {
    if (pausedAt !== null && queues.includes(name))
      reasons.push(
        `queue ${name} was paused at ${toIso(pausedAt)} by ${pausedBy}; to resume it: queuectl queue resume ${name}`,
      );
  }
  const active = await activeWorkers(app);
  if (active.length === 0) return [...reasons, 'no worker is running; to start one: queuectl worker start'];
  const workers = active.filter(takesJobs);
  if (workers.length === 0)
    return [...reasons, 'all workers are stopping; to start another one: queuectl worker start'];
  const unserved = queues.filter((name) => !workers.some((worker) => serves(worker, name)));
  if (unserved.length > 0) {
    const list = unserved.join(',');
    reasons.push(`no worker serves queue ${list}; to start one: queuectl worker start --queue ${list}`);
  }
  return reasons;
}
