import { QueueError } from '../core/errors.ts';
import { checkQueueName } from '../core/id.ts';
import { STATES, type State } from '../core/job.ts';
import { nearest } from '../core/nearest.ts';
import type { QueueChanges } from '../core/queue.ts';
import { formatRate } from '../core/rate.ts';
import { toIso } from '../core/time.ts';
import type { QueueObject } from '../core/wire.ts';
import { wake } from '../state/wake.ts';
import type { Queue } from '../store/contract/queues.ts';
import type { App } from './app.ts';

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

/** Unlike a pause or a limit, which a queue may be given before its first job. */
export async function resumeQueue(app: App, name: string): Promise<QueueObject> {
  const names = (await app.store.queues()).map((queue) => queue.name);
  if (!names.includes(name)) throw noQueue(name, names);
  return changeQueue(app, name, { paused: null });
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
    throw new QueueError(
      'wrong-state',
      `queue '${name}' is not empty`,
      `to list its jobs: queuectl list --queue ${name}`,
    );
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
