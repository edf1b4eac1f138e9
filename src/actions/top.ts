import { type ClaimedJob, type Job, STATES, type State } from '../core/job.ts';
import type { JobWithReason } from '../core/waiting-reason.ts';
import type { FinishedAttempt } from '../store/contract/figures.ts';
import type { Worker } from '../store/contract/workers.ts';
import type { App } from './app.ts';
import { listQueues, type QueueObject } from './queues.ts';
import { readCircumstances, withReasons } from './waiting-reasons.ts';
import { activeWorkers } from './workers.ts';

/** Jobs in a list that may be long: the newest so many. What a look costs must not grow with the queue. */
const LISTED = 100;
/** More attempts than workers finish between two looks. */
const SAMPLE = 2000;

/** All that a live view shows, read at one go. */
export interface Snapshot {
  at: number;
  jobs: Record<State, number>;
  queues: QueueObject[];
  /** The longest running first. */
  running: ClaimedJob[];
  /** The newest of those that wait for their first attempt. */
  waiting: JobWithReason[];
  /** Dead jobs, and failed ones that wait for another attempt; the last to fail first. */
  failures: JobWithReason[];
  workers: Worker[];
  /** Attempts that ended of late, for the throughput. */
  finished: FinishedAttempt[];
}

/** Returns when the last attempt of a job ended. A later change, such as a hold, does not count. */
export function lastEndOf({ startedAt, durationMs, finishedAt, updatedAt }: Job): number {
  if (finishedAt !== null) return finishedAt;
  return startedAt === null || durationMs === null ? updatedAt : startedAt + durationMs;
}

export async function snapshot(app: App): Promise<Snapshot> {
  await app.store.check();
  const queues = await listQueues(app);
  const around = await readCircumstances(app);
  const running = await app.store.running();
  const waiting = await app.store.list({ states: ['pending'] }, { limit: LISTED });
  const failed = await app.store.list({ states: ['failed'] }, { limit: LISTED });
  const dead = await app.store.lastEnded('dead', LISTED);
  return {
    at: app.clock.now(),
    jobs: totals(queues),
    queues,
    running: running.sort((a, b) => a.startedAt! - b.startedAt! || a.claim.attempt - b.claim.attempt),
    waiting: await withReasons(app, waiting, around),
    failures: (await withReasons(app, [...failed, ...dead], around))
      .sort((a, b) => lastEndOf(b) - lastEndOf(a))
      .slice(0, LISTED),
    workers: await activeWorkers(app),
    finished: await app.store.finished(SAMPLE),
  };
}

function totals(queues: QueueObject[]): Record<State, number> {
  const sum = (state: State): number => queues.reduce((all, queue) => all + queue.jobs[state], 0);
  return Object.fromEntries(STATES.map((state) => [state, sum(state)])) as Record<State, number>;
}
