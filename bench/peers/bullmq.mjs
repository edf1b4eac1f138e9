import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';

export function open(location, { slots }) {
  const connection = new Redis(location, { maxRetriesPerRequest: null });
  const queue = new Queue('bench', { connection });
  return {
    add: (jobs) => queue.addBulk(Array(jobs).fill({ name: 'true', data: {} })),
    work: (run) => new Worker('bench', run, { connection, concurrency: slots }).waitUntilReady(),
  };
}
