import type { App } from '../actions/app.ts';
import { presence } from '../actions/workers/workers.ts';
import { type Host, isSameBoot } from '../state/host.ts';
import type { Worker } from '../store/contract/workers.ts';

/** The last heartbeat of each worker, by worker id, and when it was first seen, by the observer's own clock. */
export type SeenHeartbeats = Map<string, { beat: number; since: number }>;

/** Returns a clock to measure the heartbeats of others. It advances by at most a third of the lease between two readings. */
export function observerClock(): (monotonic: number, leaseMs: number) => number {
  let last: number | null = null;
  let now = 0;
  return (monotonic, leaseMs) => {
    // A locked store or a suspended machine also delays the heartbeats of the observed workers.
    if (last !== null) now += Math.min(monotonic - last, leaseMs / 3);
    last = monotonic;
    return now;
  };
}

/** Tells whether a running job of this host has no registered worker, or one whose process is gone. */
export async function hasOrphans(app: App, host: Host): Promise<boolean> {
  // The jobs of another host are left to the workers of that host, or to any worker after its leases are over.
  const running = (await app.store.runningJobs()).filter((job) => job.otherHost === null);
  if (running.length === 0) return false;
  const workers = (await app.store.workers()).filter((one) => presence(one, host) !== 'gone');
  const alive = new Set(workers.map((worker) => worker.id));
  return running.some((job) => job.workerId !== null && !alive.has(job.workerId));
}

export interface Observer {
  /** Null if this machine has no id, because it never had a worker. */
  host: Host | null;
  leaseMs: number;
  /** Whether the store tells by its own clock how long workers of other hosts have a lease. */
  manyHosts: boolean;
  /** Is changed by `isGone`. */
  seen: SeenHeartbeats;
}

/**
 * Tells whether a worker's process is gone, or its heartbeat has not changed for longer than the lease. Remembers the heartbeat. A
 * worker of another host, or of another boot of this one, is gone when its lease is over.
 */
export function isGone(worker: Worker, observer: Observer, now: number): boolean {
  if (observer.manyHosts && !isSameBoot(worker.host, observer.host)) return !worker.hasLease;
  const last = observer.seen.get(worker.id);
  if (last === undefined || last.beat !== worker.beat) {
    observer.seen.set(worker.id, { beat: worker.beat, since: now });
    return presence(worker, observer.host) === 'gone'; // fault-control: lease-clock
  }
  return presence(worker, observer.host) === 'gone' || now - last.since > observer.leaseMs;
}

/** Forgets the heartbeats of workers that are not in `workers` any more. */
export function forgetUnregistered(seen: SeenHeartbeats, workers: Worker[]): void {
  const ids = new Set(workers.map((worker) => worker.id));
  for (const id of seen.keys()) if (!ids.has(id)) seen.delete(id);
}
