import type { KnownHost, NewWorker } from './contract/workers.ts';
import type { Row } from './row.ts';

/** Returns the labels of a worker as they are stored. */
export const labelsColumn = (labels: string[]): string | null =>
  labels.length === 0 ? null : JSON.stringify(labels);

/** Returns the details of the event that a worker is ready. Labels are left out if there are none. */
export const readyDetail = ({ id, pid, hostname, concurrency, queues, labels }: NewWorker) => ({
  ...{ worker_id: id, pid, hostname, concurrency, queues: queues ?? ['*'] },
  ...(labels.length > 0 && { labels }),
});

export const toHost = ({ id, boot, name, hasLease, leaseUntil }: Row): KnownHost => ({
  id: String(id),
  boot: String(boot),
  name: String(name),
  hasLease: hasLease === 1,
  leaseUntil: Number(leaseUntil),
});
