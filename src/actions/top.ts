import { type ClaimedJob, type Job, STATES, type State } from '../core/job.ts';
import type { QueueObject } from '../core/wire.ts';
import type { FinishedAttempt } from '../store/contract/figures.ts';
import type { Worker } from '../store/contract/workers.ts';
import type { App } from './app.ts';
import { listQueues } from './queues.ts';
import { activeWorkers } from './workers.ts';

/** A long list has this many of the newest jobs, so that the cost does not grow with the queue. */
const LISTED = 100;
/** Workers finish fewer attempts than this between two snapshots. */
const SAMPLE = 2000;

/** Everything that a live view shows. */
export interface Snapshot {
  at: number;
  jobs: Record<State, number>;
  queues: QueueObject[];
  /** The longest running job is first. */
  running: ClaimedJob[];
  /** The newest jobs that wait for their first attempt. */
  waiting: Job[];
  /** The dead jobs, and the failed ones that wait for another attempt. The last failure is first. */
  failures: Job[];
  workers: Worker[];
  /** The attempts that ended last, for the throughput. */
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
