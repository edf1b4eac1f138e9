import { HOOK_QUEUE } from '../../core/jobs/hooks.ts';
import { toIso } from '../../core/time/time.ts';
import type { WorkerObject } from '../../core/wire/wire.ts';
import { processes } from '../../exec/processes.ts';
import { runsThisExecutable } from '../../exec/program.ts';
import { type Host, knownHost } from '../../state/host.ts';
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
  // The machine was restarted after the process had registered. If that boot still has a lease, it may be of a machine that is a copy.
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
