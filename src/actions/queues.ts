import { QueueError } from '../core/errors.ts';
import { checkQueueName } from '../core/id.ts';
import { STATES, type State } from '../core/job.ts';
import { nearest } from '../core/nearest.ts';
import type { QueueChanges } from '../core/queue.ts';
import { formatRate } from '../core/rate.ts';
import { toIso } from '../core/time.ts';
import { wake } from '../state/wake.ts';
import type { Queue } from '../store/contract/queues.ts';
import type { App } from './app.ts';

export interface QueueObject {
  name: string;
  paused: boolean;
  paused_at: string | null;
  paused_by: string | null;
  concurrency: number | null;
  rate: string | null;
  priority_aging_ms: number | null;
  jobs: Record<State, number>;
  /** Since when its oldest job that may run has been waiting. */
  oldest_waiting_at: string | null;
}

/** Every queue, by name, with its jobs by state. */
export async function listQueues(app: App): Promise<QueueObject[]> {
  const counts = await app.store.counts();
  const waiting = new Map(
    (await app.store.oldestWaiting(app.clock.now())).map(({ queue, since }) => [queue, since]),
  );
  return (await app.store.queues()).map((queue) => {
    const jobs = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<State, number>;
    for (const count of counts) if (count.queue === queue.name) jobs[count.state] = count.jobs;
    return toQueueObject(queue, jobs, waiting.get(queue.name) ?? null);
  });
}

export async function queueExists(app: App, name: string): Promise<boolean> {
  return (await app.store.queues()).some((queue) => queue.name === name);
}

/** Takes effect at once: the next claim of every worker obeys it. */
export async function changeQueue(app: App, name: string, changes: QueueChanges): Promise<QueueObject> {
  checkQueueName(name, 'queue');
  await app.store.setQueue(name, changes);
  wake(app.stateDirectory);
  return (await listQueues(app)).find((queue) => queue.name === name)!;
}

/** Pauses a queue, or all queues if the name is null. Running jobs continue. Throws if there is no such queue. */
export function pauseQueues(app: App, name: string | null, by: string): Promise<QueueObject[]> {
  return changeExisting(app, name, { paused: { at: app.clock.now(), by } });
}

/** Resumes a queue, or all queues if the name is null. Throws if there is no such queue. */
export function resumeQueues(app: App, name: string | null): Promise<QueueObject[]> {
  return changeExisting(app, name, { paused: null });
}

async function changeExisting(app: App, name: string | null, changes: QueueChanges): Promise<QueueObject[]> {
  const names = (await app.store.queues()).map((queue) => queue.name);
  if (name !== null && !names.includes(name)) throw noQueue(name, names);
  const changed = name === null ? names : [name];
  for (const one of changed) await app.store.setQueue(one, changes);
  wake(app.stateDirectory);
  return (await listQueues(app)).filter((queue) => changed.includes(queue.name));
}

/** Only one that nobody would miss. */
export async function deleteQueue(app: App, name: string): Promise<void> {
  const user = (await app.store.schedules()).find((schedule) => (schedule.job.queue ?? 'default') === name);
  if (user !== undefined)
    throw new QueueError('wrong-state', `queue '${name}' is used by schedule '${user.name}'`);
  const answer = await app.store.removeQueue(name);
  if (answer === 'absent')
    throw noQueue(
      name,
      (await app.store.queues()).map((queue) => queue.name),
    );
  if (answer === 'has-jobs')
    throw new QueueError('wrong-state', `queue '${name}' is not empty`, `queuectl list --queue ${name}`);
  wake(app.stateDirectory);
}

function noQueue(name: string, names: string[]): QueueError {
  const guess = nearest(name, names);
  const meant = guess === null ? '' : `; did you mean '${guess}'?`;
  return new QueueError('queue-not-found', `there is no queue '${name}'${meant}`);
}

function toQueueObject(queue: Queue, jobs: Record<State, number>, oldest: number | null): QueueObject {
  return {
    name: queue.name,
    paused: queue.pausedAt !== null,
    paused_at: toIso(queue.pausedAt),
    paused_by: queue.pausedBy,
    concurrency: queue.concurrency,
    rate: queue.rate === null ? null : formatRate(queue.rate),
    priority_aging_ms: queue.agingMs,
    jobs,
    oldest_waiting_at: toIso(oldest),
  };
}
