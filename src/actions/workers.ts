import { HOOK_QUEUE } from '../core/hooks.ts';
import { toIso } from '../core/time.ts';
import type { WorkerObject } from '../core/wire.ts';
import { runsThisExecutable } from '../exec/executable.ts';
import { processes } from '../exec/processes.ts';
import type { Host } from '../state/host.ts';
import { thisHost } from '../state/host.ts';
import type { Supervised, Worker } from '../store/contract/workers.ts';
import type { Store } from '../store/store.ts';
import { type App, currentSettings } from './app.ts';

export function toWorkerObject(worker: Worker, same: boolean | null = null): WorkerObject {
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
    same_executable: same,
  };
}

/** The workers that live. One whose process is gone stays in the store until its jobs are taken over, but not here. */
export async function activeWorkers(app: App): Promise<Worker[]> {
  const workers = await app.store.workers();
  if (workers.length === 0) return [];
  const host = thisHost(app.stateDirectory);
  const { lease } = await currentSettings(app);
  return workers.filter((worker) => {
    const seen = presence(worker, host);
    return seen === 'elsewhere' ? app.clock.now() - worker.lastHeartbeat < lease : seen === 'alive';
  });
}

/** Tells whether a worker takes jobs of this queue. Hooks run on every worker. */
export function serves({ queues }: Worker, queue: string): boolean {
  return queue === HOOK_QUEUE || queues === null || queues.includes(queue);
}

/** Tells whether a worker takes more jobs. One that is stopping only finishes those it has. */
export const takesJobs = ({ draining, order }: Worker): boolean => !draining && order === null;

/** Counts the registered workers of a supervisor. */
export async function countWorkersOf(app: App, supervisor: string): Promise<number> {
  return (await app.store.workers()).filter((worker) => worker.supervisor === supervisor).length;
}

/** The same as people see them. */
export async function listWorkers(app: App): Promise<WorkerObject[]> {
  const workers = await activeWorkers(app);
  if (workers.length === 0) return [];
  const host = thisHost(app.stateDirectory);
  return workers.map((worker) =>
    toWorkerObject(worker, presence(worker, host) === 'alive' ? runsThisExecutable(worker.pid) : null),
  );
}

/** The supervisors that live on this machine. */
export async function activeSupervisors(app: App): ReturnType<Store['supervisors']> {
  const supervisors = await app.store.supervisors();
  if (supervisors.length === 0) return [];
  const host = thisHost(app.stateDirectory);
  return supervisors.filter((supervisor) => presence(supervisor, host) === 'alive');
}

/** What this machine can tell of a worker by looking at its process. */
export function presence(worker: Supervised, host: Host): 'alive' | 'gone' | 'elsewhere' {
  if (worker.host.id !== host.id) return 'elsewhere';
  // The same machine after a restart: nothing of before it lives.
  if (worker.host.boot !== host.boot) return 'gone';
  if (worker.host.pidNamespace !== host.pidNamespace) return 'elsewhere';
  return processes.startTime(worker.pid) === worker.startTime ? 'alive' : 'gone';
}
