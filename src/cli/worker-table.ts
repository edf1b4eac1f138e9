import type { WorkerObject } from '../core/wire.ts';
import type { Listing } from './print-list.ts';

export const WORKER_LIST: Listing<WorkerObject> = {
  id: (worker) => worker.id,
  columns: (times) => [
    { title: 'WORKER', value: (worker) => worker.id },
    { title: 'PID', value: (worker) => String(worker.pid) },
    { title: 'HOST', value: (worker) => worker.hostname, drop: 2 },
    { title: 'STATUS', value: (worker) => worker.status },
    { title: 'QUEUES', value: (worker) => worker.queues.join(','), drop: 1 },
    { title: 'LABELS', value: (worker) => worker.labels.join(','), drop: 5 },
    { title: 'STARTED', drop: 3, value: (worker) => times.text(worker.started_at) },
    { title: 'HEARTBEAT', value: (worker) => times.text(worker.last_heartbeat), drop: 0 },
    { title: 'SLOTS', value: slotsInUse, drop: 4 },
    { title: 'JOBS', value: (worker) => worker.current_jobs.join(','), shrinks: true },
  ],
};

/** Returns how many slots of a worker are in use. Jobs that were claimed ahead or adopted have none, so it can have more jobs than slots. */
export function slotsInUse({ current_jobs, concurrency }: WorkerObject): string {
  return `${Math.min(current_jobs.length, concurrency)}/${concurrency}`;
}
