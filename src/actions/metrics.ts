import type { MetricsSnapshot } from '../core/figures.ts';
import type { WorkerObject } from '../core/wire.ts';
import type { App } from './app.ts';
import { countReasons } from './waiting-reasons.ts';
import { activeWorkers, serves, takesJobs, toWorkerObject } from './workers.ts';

const WORKER_STATES: WorkerObject['status'][] = ['idle', 'busy', 'draining'];

/** Reads the figures for the metrics from the store. They cover the work of all processes. */
export async function metricsSnapshot(app: App, version: string): Promise<MetricsSnapshot> {
  const now = app.clock.now();
  const jobs = await app.store.counts();
  const workers = await activeWorkers(app);
  const states = workers.map((worker) => toWorkerObject(worker).status);
  const claimingWorkers = workers.filter(takesJobs);
  const runningJobs = (queue: string): number =>
    jobs.find((count) => count.queue === queue && count.state === 'processing')?.jobs ?? 0;
  return {
    version,
    now,
    jobs,
    waiting: await app.store.oldestWaiting(now),
    reasons: await countReasons(app),
    totals: await app.store.totals(),
    workers: WORKER_STATES.map((state) => ({ state, count: states.filter((one) => one === state).length })),
    slots: (await app.store.queues()).map(({ name, concurrency }) => ({
      queue: name,
      total: claimingWorkers
        .filter((worker) => serves(worker, name))
        .reduce((sum, worker) => sum + worker.concurrency, 0),
      busy: runningJobs(name),
      limit: concurrency,
    })),
    schedules: (await app.store.schedules()).map(({ name, lastAt }) => ({ name, lastAt })),
    walBytes: await app.store.walBytes(),
  };
}
