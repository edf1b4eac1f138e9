import { QueueError } from '../core/errors.ts';
import { checkQueueName } from '../core/jobs/id.ts';
import { STATES, type State } from '../core/jobs/job.ts';
import { formatRate, parseRate, type QueueChanges, type QueueInput } from '../core/rules/queue.ts';
import { queueOf } from '../core/schedules/schedule.ts';
import { didYouMean } from '../core/text/nearest.ts';
import { parseNumber } from '../core/text/numbers.ts';
import { shellWord } from '../core/text/shell-quote.ts';
import { isNone } from '../core/text/words.ts';
import { toIso } from '../core/time/time.ts';
import type { QueueObject } from '../core/wire/wire.ts';
import type { App } from './app.ts';

/** Returns every queue, ordered by name, with its number of jobs by state. */
export async function listQueues(app: App): Promise<QueueObject[]> {
  const counts = await app.store.counts();
  const oldest = await app.store.oldestWaiting(app.clock.now());
  const waitingSince = new Map(oldest.map(({ queue, since }) => [queue, since]));
  return (await app.store.queues()).map((queue) => {
    const jobs = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<State, number>;
    for (const count of counts) if (count.queue === queue.name) jobs[count.state] = count.jobs;
    return {
      name: queue.name,
      paused: queue.pausedAt !== null,
      paused_at: toIso(queue.pausedAt),
      paused_by: queue.pausedBy,
      concurrency: queue.concurrency,
      rate: queue.rate === null ? null : formatRate(queue.rate),
      jobs,
      oldest_waiting_at: toIso(waitingSince.get(queue.name) ?? null),
    };
  });
}

/** Returns a queue. Throws if there is none with this name. */
export async function getQueue(app: App, name: string): Promise<QueueObject> {
  const queues = await listQueues(app);
  const found = queues.find((queue) => queue.name === name);
  if (found !== undefined) return found;
  const names = queues.map((queue) => queue.name);
  throw noQueue(name, names);
}

async function queueNames(app: App): Promise<string[]> {
  return (await app.store.queues()).map((queue) => queue.name);
}

export async function queueExists(app: App, name: string): Promise<boolean> {
  return (await queueNames(app)).includes(name);
}

/**
 * Changes a queue. If the queue does not exist, setting a limit creates it, so that limits can be set before the first job.
 * Pausing or resuming it throws, because the name is probably misspelt. The next claim of every worker follows the change.
 */
export async function changeQueue(app: App, name: string, changes: QueueChanges): Promise<QueueObject> {
  checkQueueName(name, 'queue');
  if (Object.keys(changes).every((field) => field === 'paused')) await getQueue(app, name);
  await app.store.setQueue(name, changes);
  app.wakeups.wake();
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
  const names = await queueNames(app);
  if (name !== null && !names.includes(name)) throw noQueue(name, names);
  const chosen = name === null ? names : [name];
  for (const one of chosen) await app.store.setQueue(one, changes);
  app.wakeups.wake();
  return (await listQueues(app)).filter((queue) => chosen.includes(queue.name));
}

/** Deletes a queue. Throws if it has jobs or is used by a schedule. */
export async function deleteQueue(app: App, name: string): Promise<void> {
  const usedBy = (await app.store.schedules()).find((schedule) => queueOf(schedule) === name);
  if (usedBy !== undefined)
    throw new QueueError('wrong-state', `queue '${name}' is used by schedule '${usedBy.name}'`);
  const answer = await app.store.removeQueue(name);
  if (answer === 'absent') throw noQueue(name, await queueNames(app));
  if (answer === 'has-jobs')
    throw new QueueError(
      'wrong-state',
      `queue '${name}' is not empty`,
      `to list its jobs: queuectl list --queue ${shellWord(name)}`,
    );
  app.wakeups.wake();
}

function noQueue(name: string, names: string[]): QueueError {
  return new QueueError('queue-not-found', `there is no queue '${name}'${didYouMean(name, names)}`);
}

const CONCURRENCY_RANGE = { min: 1, max: 1_000_000, integer: true };

/** Reads the settings. `nameOf` returns the name of a field for error messages. */
export function readQueueInput(given: QueueInput, nameOf = (field: string): string => field): QueueChanges {
  const changes: QueueChanges = {};
  const { concurrency, rate } = given;
  const textOf = (value: number | string | null): string => String(value ?? 'none').trim();
  if (concurrency !== undefined)
    changes.concurrency = isNone(textOf(concurrency))
      ? null
      : parseNumber(textOf(concurrency), nameOf('concurrency'), CONCURRENCY_RANGE);
  if (rate !== undefined) changes.rate = parseRate(textOf(rate), nameOf('rate'));
  return changes;
}
