import type { WorkerObject } from '../actions/workers.ts';
import type { Io } from './io.ts';
import { printTable } from './table.ts';
import { relative } from './times.ts';

export function printWorkers(io: Io, workers: WorkerObject[], now: number): void {
  printTable(
    io,
    [
      { title: 'WORKER', value: (worker) => worker.id },
      { title: 'PID', value: (worker) => String(worker.pid) },
      { title: 'HOST', value: (worker) => worker.hostname, drop: 2 },
      { title: 'STATUS', value: (worker) => worker.status },
      { title: 'QUEUES', value: (worker) => worker.queues.join(','), drop: 1 },
      {
        title: 'STARTED',
        drop: 3,
        value: (worker) => worker.started_at,
        look: (worker) => relative(Date.parse(worker.started_at), now),
      },
      {
        title: 'HEARTBEAT',
        value: (worker) => worker.last_heartbeat,
        look: (worker) => relative(Date.parse(worker.last_heartbeat), now),
      },
      {
        title: 'SLOTS',
        value: (worker) => `${worker.current_jobs.length}/${worker.concurrency}`,
        drop: 4,
      },
      { title: 'JOBS', value: (worker) => worker.current_jobs.join(','), shrinks: true },
    ],
    workers,
  );
}
