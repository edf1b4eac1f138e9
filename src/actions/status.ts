import { STATES, type State } from '../core/job.ts';
import type { WorkerObject } from '../core/wire.ts';
import type { App } from './app.ts';
import { listWorkers } from './workers.ts';

export interface Status {
  jobs: Record<State, number>;
  total: number;
  workers: WorkerObject[];
}

export async function countStates(app: App): Promise<Record<State, number>> {
  const jobs = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<State, number>;
  for (const count of await app.store.counts()) jobs[count.state] += count.jobs;
  return jobs;
}

export async function status(app: App): Promise<Status> {
  const jobs = await countStates(app);
  const total = Object.values(jobs).reduce((sum, n) => sum + n, 0);
  return { jobs, total, workers: await listWorkers(app) };
}
