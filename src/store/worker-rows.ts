import type { KnownHost, NewWorker } from './contract/workers.ts';
import type { Row } from './row.ts';

/** Returns the details of the event that a worker is ready. */
export const readyDetail = ({ id, pid, hostname, concurrency, queues }: NewWorker) => ({
  ...{ worker_id: id, pid, hostname, concurrency, queues: queues ?? ['*'] },
});

export const toHost = ({ id, boot, name, hasLease, leaseUntil }: Row): KnownHost => ({
  id: String(id),
  boot: String(boot),
  name: String(name),
  hasLease: hasLease === 1,
  leaseUntil: Number(leaseUntil),
});
