import { type ClaimedJob, type Job, STATES, type State } from '../core/job.ts';
import type { QueueObject } from '../core/wire.ts';
import type { FinishedAttempt } from '../store/contract/figures.ts';
import type { Worker } from '../store/contract/workers.ts';
import type { App } from './app.ts';
import { listQueues } from './queues.ts';
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
  waiting: Job[];
  /** Dead jobs, and failed ones that wait for another attempt; the last to fail first. */
  failures: Job[];
  workers: Worker[];
  /** Attempts that ended of late, for the throughput. */
  finished: FinishedAttempt[];
}

export async function snapshot(app: App): Promise<Snapshot> {
  await app.store.check();
  const queues = await listQueues(app);
  const running = await app.store.running();
  const failed = await app.store.list({ states: ['failed'] }, { limit: LISTED });
  const dead = await app.store.lastEnded('dead', LISTED);
  return {
    at: app.clock.now(),
    jobs: totals(queues),
    queues,
    running: running.sort((a, b) => a.startedAt! - b.startedAt! || a.claim.attempt - b.claim.attempt),
    waiting: await app.store.list({ states: ['pending'] }, { limit: LISTED }),
    failures: [...failed, ...dead].sort((a, b) => b.updatedAt - a.updatedAt).slice(0, LISTED),
    workers: await activeWorkers(app),
    finished: await app.store.finished(SAMPLE),
  };
}

function totals(queues: QueueObject[]): Record<State, number> {
  const sum = (state: State): number => queues.reduce((all, queue) => all + queue.jobs[state], 0);
  return Object.fromEntries(STATES.map((state) => [state, sum(state)])) as Record<State, number>;
}
