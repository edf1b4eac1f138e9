import { STATES, type State } from '../core/job.ts';
import type { ReasonCounts } from '../core/waiting-reason.ts';
import type { WorkerObject } from '../core/wire.ts';
import type { App } from './app.ts';
import { countReasons, sumReasons } from './waiting-reasons.ts';
import { listWorkers } from './workers.ts';

export interface Status {
  jobs: Record<State, number>;
  total: number;
  /** The number of waiting jobs for each reason, zeros included. */
  waiting_for: ReasonCounts;
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
  const reasons = sumReasons(await countReasons(app));
  return { jobs, total, waiting_for: reasons, workers: await listWorkers(app) };
}
