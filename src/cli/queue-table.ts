import type { QueueObject } from '../actions/queues.ts';
import { exactDuration } from '../core/duration.ts';
import type { Io } from './io.ts';
import { printTable } from './table.ts';

export function printQueues(io: Io, queues: QueueObject[]): void {
  printTable(
    io,
    [
      { title: 'QUEUE', value: (queue) => queue.name },
      {
        title: 'STATUS',
        value: (queue) => (queue.paused ? 'paused' : 'open'),
        color: (queue) => (queue.paused ? 'yellow' : undefined),
      },
      {
        title: 'RUNNING',
        value: (queue) =>
          `${queue.jobs.processing}${queue.concurrency === null ? '' : `/${queue.concurrency}`}`,
      },
      { title: 'RATE', value: (queue) => queue.rate ?? '-', drop: 1 },
      {
        title: 'AGING',
        value: (queue) => (queue.priority_aging_ms === null ? '-' : exactDuration(queue.priority_aging_ms)),
        drop: 5,
      },
      { title: 'PENDING', value: (queue) => String(queue.jobs.pending) },
      { title: 'FAILED', value: (queue) => String(queue.jobs.failed) },
      { title: 'DEAD', value: (queue) => String(queue.jobs.dead) },
      { title: 'COMPLETED', value: (queue) => String(queue.jobs.completed), drop: 2 },
      { title: 'CANCELLED', value: (queue) => String(queue.jobs.cancelled), drop: 3 },
      { title: 'PAUSED BY', value: (queue) => queue.paused_by ?? '', drop: 4 },
    ],
    queues,
  );
}

export function printQueue(io: Io, queue: QueueObject): void {
  if (io.json) io.out(`${JSON.stringify(queue)}\n`);
  else printQueues(io, [queue]);
}
