import { howToStart, matchingWorker } from '../core/runs-on.ts';
import { toIso } from '../core/time.ts';
import type { App } from './app.ts';
import { activeWorkers, canTake, serves, takesJobs, type WhereJobRuns } from './workers.ts';

/**
 * Returns sentences that explain why these jobs do not start: a queue is paused, no worker serves it, or no worker has the label or
 * the host that a job asks for.
 */
export async function whyQueuesStandStill(app: App, jobs: WhereJobRuns[]): Promise<string[]> {
  const queues = [...new Set(jobs.map((job) => job.queue))];
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
  const unmatched = jobs.filter(
    (job) => !unserved.includes(job.queue) && !workers.some((one) => canTake(one, job)),
  );
  for (const runsOn of new Set(unmatched.map((job) => job.runsOn!)))
    reasons.push(`no ${matchingWorker(runsOn)} takes jobs; ${howToStart(runsOn)}`);
  return reasons;
}
