import type { State } from '../core/job.ts';
import type { ReasonCounts } from '../core/waiting-reason.ts';
import type { WorkerObject } from '../core/wire.ts';
import type { App } from './app.ts';
import { countAllReasons } from './waiting-reasons.ts';
import { listWorkers } from './workers.ts';

export interface Status {
  jobs: Record<State, number>;
  total: number;
  /** The number of waiting jobs for each reason, zeros included. */
  waiting_for: ReasonCounts;
  workers: WorkerObject[];
}

export const countStates = (app: App): Promise<Record<State, number>> => app.store.stateCounts();

export async function status(app: App): Promise<Status> {
  const jobs = await countStates(app);
  const total = Object.values(jobs).reduce((sum, n) => sum + n, 0);
  const reasons = await countAllReasons(app, jobs);
  return { jobs, total, waiting_for: reasons, workers: await listWorkers(app) };
}
