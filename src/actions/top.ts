import type { ClaimedJob, Job, State } from '../core/jobs/job.ts';
import type { JobWithReason } from '../core/jobs/waiting-reason.ts';
import type { QueueObject } from '../core/wire/wire.ts';
import type { FinishedAttempt } from '../store/contract/figures.ts';
import type { Worker } from '../store/contract/workers.ts';
import type { App } from './app.ts';
import { readCircumstances, withReasons } from './jobs/waiting-reasons.ts';
import { listQueues } from './queues.ts';
import { activeWorkers } from './workers/workers.ts';

/** The lists of waiting and failed jobs have at most this many jobs, so that the cost does not grow with the queue. */
const MAX_LISTED = 100;
/** At most this many finished attempts are read. Fewer attempts usually finish between two snapshots. */
const MAX_FINISHED = 2000;

/** Everything that the live screen shows. */
export interface Snapshot {
  at: number;
  jobs: Record<State, number>;
  queues: QueueObject[];
  /** The longest running job is first. */
  running: ClaimedJob[];
  /** The pending jobs that were enqueued last. */
  waiting: JobWithReason[];
  /** Dead jobs, and failed jobs that wait for a retry. The job whose last attempt ended last is first. */
  failures: JobWithReason[];
  workers: Worker[];
  /** The finished attempts that started last, for the throughput. */
  finished: FinishedAttempt[];
}

/** Returns when the last attempt of a job ended, or when the job was last changed if the end is not known. */
export function lastEndOf({ startedAt, durationMs, finishedAt, updatedAt }: Job): number {
  if (finishedAt !== null) return finishedAt;
  return startedAt === null || durationMs === null ? updatedAt : startedAt + durationMs;
}

export async function snapshot(app: App): Promise<Snapshot> {
  await app.store.check();
  const queues = await listQueues(app);
  const circumstances = await readCircumstances(app);
  const running = await app.store.runningJobs();
  const waiting = await app.store.list({ states: ['pending'] }, { limit: MAX_LISTED });
  const failed = await app.store.list({ states: ['failed'] }, { limit: MAX_LISTED });
  const dead = await app.store.lastEnded('dead', MAX_LISTED);
  return {
    at: app.clock.now(),
    jobs: await app.store.stateCounts(),
    queues,
    running: running.sort((a, b) => a.startedAt! - b.startedAt! || a.claim.attempt - b.claim.attempt),
    waiting: await withReasons(app, waiting, circumstances),
    failures: (await withReasons(app, [...failed, ...dead], circumstances))
      .sort((a, b) => lastEndOf(b) - lastEndOf(a))
      .slice(0, MAX_LISTED),
    workers: await activeWorkers(app),
    finished: await app.store.finishedAttempts(MAX_FINISHED),
  };
}
