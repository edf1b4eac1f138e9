import type { Worker } from '../types.ts';

/** Tells whether a worker takes more jobs. A worker that is stopping only finishes its running jobs. */
export const takesJobs = ({ status }: Worker): boolean => status !== 'draining';

/** Tells whether a worker takes jobs of a queue. */
export const serves = (worker: Worker, queue: string): boolean =>
  takesJobs(worker) && (worker.queues.includes('*') || worker.queues.includes(queue));
