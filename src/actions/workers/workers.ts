import { HOOK_QUEUE } from '../../core/jobs/hooks.ts';
import { toIso } from '../../core/time/time.ts';
import type { WorkerObject } from '../../core/wire/wire.ts';
import { processes } from '../../exec/processes.ts';
import { runsThisExecutable } from '../../exec/program.ts';
import { type Host, isSameBoot, knownHost } from '../../state/host.ts';
import type { RegisteredProcess, Worker } from '../../store/contract/workers.ts';
import type { Store } from '../../store/store.ts';
import type { App } from '../app.ts';

export function toWorkerObject(worker: Worker, sameExecutable: boolean | null = null): WorkerObject {
  return {
    id: worker.id,
    pid: worker.pid,
    hostname: worker.hostname,
    started_at: toIso(worker.startedAt),
    last_heartbeat: toIso(worker.lastHeartbeat),
    status: !takesJobs(worker) ? 'draining' : worker.currentJobs.length > 0 ? 'busy' : 'idle',
    queues: worker.queues ?? ['*'],
    current_jobs: worker.currentJobs,
    concurrency: worker.concurrency,
    same_executable: sameExecutable,
  };
}

/** Returns the live workers of all hosts. */
export async function activeWorkers(app: Pick<App, 'store' | 'stateDirectory'>): Promise<Worker[]> {
  const workers = await app.store.workers();
  if (workers.length === 0) return [];
  const host = knownHost(app.stateDirectory);
  return workers.filter((worker) => isActive(worker, host));
}

/** Tells whether a worker is alive. One that is `elsewhere` counts as alive until it leaves or its lease is over. */
export function isActive(worker: Worker, host: Host | null): boolean {
  const found = presence(worker, host);
  return found === 'elsewhere' ? worker.hasLease && !worker.hasLeft : found === 'alive';
}

/** Tells whether a worker takes jobs of this queue. Hooks run on every worker. */
export function serves({ queues }: Worker, queue: string): boolean {
  return queue === HOOK_QUEUE || queues === null || queues.includes(queue);
}

/** Tells whether a worker takes more jobs. A worker that is stopping only finishes its running jobs. */
export const takesJobs = ({ draining, order }: Worker): boolean => !draining && order === null;

export async function countWorkersOf(app: App, supervisor: string): Promise<number> {
  return (await app.store.workers()).filter((worker) => worker.supervisor === supervisor).length;
}

export async function listWorkers(app: App): Promise<WorkerObject[]> {
  const workers = await activeWorkers(app);
  if (workers.length === 0) return [];
  const host = knownHost(app.stateDirectory);
  return workers.map((worker) =>
    toWorkerObject(worker, presence(worker, host) === 'alive' ? runsThisExecutable(worker.pid) : null),
  );
}

/** Returns the live supervisors. One that is `elsewhere` counts as live while one of its workers does. */
export async function activeSupervisors(app: App): ReturnType<Store['supervisors']> {
  const supervisors = await app.store.supervisors();
  if (supervisors.length === 0) return [];
  const host = knownHost(app.stateDirectory);
  const supervising = new Set((await activeWorkers(app)).map((worker) => worker.supervisor));
  return supervisors.filter((supervisor) => {
    const found = presence(supervisor, host);
    return found === 'elsewhere' ? supervising.has(supervisor.id) : found === 'alive';
  });
}

/**
 * Tells whether a worker or supervisor is alive. One on another machine or in another pid namespace is `elsewhere`. `host` is null
 * if this machine has no id, because it never had a worker.
 */
export function presence(registered: RegisteredProcess, host: Host | null): 'alive' | 'gone' | 'elsewhere' {
  if (host === null || registered.host.id !== host.id) return 'elsewhere';
  // The machine was restarted after the process had registered. If that boot still has a lease, it may belong to a copy of this machine.
  if (registered.host.boot !== host.boot) return registered.bootHasLease === true ? 'elsewhere' : 'gone';
  if (registered.host.pidNamespace !== host.pidNamespace) return 'elsewhere';
  return processes.startTime(registered.pid) === registered.startTime ? 'alive' : 'gone';
}

/** Returns the ids of all live workers. If there are none, returns those of live supervisors, which may be replacing a worker. */
export async function liveProcessIds(app: App): Promise<string[]> {
  const workers = await activeWorkers(app);
  const running = workers.length > 0 ? workers : await activeSupervisors(app);
  return running.map(({ id }) => id);
}

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
  /** Whether the store decides by its own clock whether the leases of other hosts are over. */
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
