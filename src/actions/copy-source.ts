import { QueueError } from '../core/errors.ts';
import { queueOf } from '../core/schedule.ts';
import { countOf } from '../core/words.ts';
import { thisHost } from '../state/host.ts';
import type { ExportedRow } from '../store/contract/care.ts';
import type { Store } from '../store/store.ts';
import type { App } from './app.ts';
import { watchChanges } from './change-watch.ts';
import { liveProcessIds } from './live-processes.ts';
import { throwIfJobsRun } from './throw-if-running.ts';
import { presence } from './workers.ts';

/** The name under which a copy pauses queues. The pauses under this name are not copied. */
const PAUSED_BY = 'db copy';

/** The queue that is copied. */
export interface CopySource {
  app: App;
  /** Names the queue in messages, without a password. */
  name: string;
  /** The start of a command for this queue, for hints, such as `queuectl` or `queuectl --db PATH`. It contains no password. */
  command: string;
}

/** Throws if workers run, or if a job still runs without one. Such a job would run once more in the copy. */
export async function refuseLiveSource(source: CopySource): Promise<void> {
  const { app, name, command } = source;
  const ids = await liveProcessIds(app);
  if (ids.length > 0)
    throw new QueueError(
      'wrong-state',
      `${countOf(ids.length, 'worker')} of ${name} ${ids.length === 1 ? 'is' : 'are'} running (${ids.join(', ')})`,
      `to stop ${ids.length === 1 ? 'it' : 'them'}: ${command} worker stop. To pause the queues and copy after the running jobs have ended: add --pause`,
    );
  await throwIfLeftRunning(source);
}

/** Throws if a job still runs whose worker is gone: on this host, or on another one, which keeps its lease for a while. */
async function throwIfLeftRunning({ app, command }: CopySource): Promise<void> {
  await throwIfJobsRun(app.store, app.stateDirectory, command);
  const workers = new Map((await app.store.workers()).map((worker) => [worker.id, worker]));
  for (const { id, workerId } of await app.store.runningJobs()) {
    const worker = workers.get(workerId ?? '');
    if (worker === undefined || !worker.hasLease) continue;
    if (presence(worker, thisHost(app.stateDirectory)) !== 'elsewhere') continue;
    throw new QueueError(
      'wrong-state',
      `job '${id}' may still be running on ${worker.hostname}`,
      `to let it finish, run ${command} worker start --drain there. Otherwise wait until its lease is over`,
    );
  }
}

export const hasNoWorker = async (app: App): Promise<boolean> => (await liveProcessIds(app)).length === 0;

/**
 * Pauses all queues that are not paused, and creates those that schedules will use. Returns how many it has paused. Running jobs
 * continue.
 */
export async function pauseForCopy(app: App): Promise<number> {
  const queues = await app.store.queues();
  const used = (await app.store.schedules()).map(queueOf);
  const known = new Set(queues.map(({ name }) => name));
  const open = new Set([
    ...queues.filter(({ pausedAt }) => pausedAt === null).map(({ name }) => name),
    ...used.filter((name) => !known.has(name)),
  ]);
  for (const name of open) await app.store.setQueue(name, { paused: { at: app.clock.now(), by: PAUSED_BY } });
  if (open.size > 0) app.signals.wake();
  return open.size;
}

export const countPausedForCopy = async (store: Store): Promise<number> =>
  (await store.queues()).filter((queue) => queue.pausedBy === PAUSED_BY).length;

/** Waits until no job runs. Calls `onWait` with the number of running jobs. A job that no worker will finish is not waited for. */
export async function untilIdle(source: CopySource, onWait: (jobs: number) => void): Promise<void> {
  const { app } = source;
  const watch = watchChanges(app, { timeoutMs: null });
  try {
    for (;;) {
      const running = (await app.store.runningJobs()).length;
      if (running === 0) return;
      if (await hasNoWorker(app)) return throwIfLeftRunning(source);
      onWait(running);
      await watch.next();
    }
  } finally {
    watch.close();
  }
}

/** Returns the row for the copy. A queue that was paused for the copy is not paused in it. */
export function withoutPause(given: ExportedRow): ExportedRow {
  if (given.table !== 'queue' || given.row.paused_by !== PAUSED_BY) return given;
  return { table: given.table, row: { ...given.row, paused_at: null, paused_by: null } };
}
