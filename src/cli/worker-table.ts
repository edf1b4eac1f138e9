import type { WorkerObject } from '../core/wire.ts';
import type { Io } from './io.ts';
import type { Listing } from './print-list.ts';
import { timesFor } from './times.ts';

export function workerListing(io: Io, now: number): Listing<WorkerObject> {
  const times = timesFor(io, now);
  return {
    columns: [
      { title: 'WORKER', value: (worker) => worker.id },
      { title: 'PID', value: (worker) => String(worker.pid) },
      { title: 'HOST', value: (worker) => worker.hostname, drop: 2 },
      { title: 'STATUS', value: (worker) => worker.status },
      { title: 'QUEUES', value: (worker) => worker.queues.join(','), drop: 1 },
      { title: 'STARTED', drop: 3, value: (worker) => times.text(worker.started_at) },
      { title: 'HEARTBEAT', value: (worker) => times.text(worker.last_heartbeat), drop: 0 },
      { title: 'SLOTS', value: (worker) => `${worker.current_jobs.length}/${worker.concurrency}`, drop: 4 },
      { title: 'JOBS', value: (worker) => worker.current_jobs.join(','), shrinks: true },
    ],
    times,
    id: (worker) => worker.id,
    object: (worker) => worker,
  };
}
