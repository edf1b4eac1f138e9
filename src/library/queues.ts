import { type QueueInput, readQueueInput } from '../actions/queue-input.ts';
import { changeQueue, listQueues, pauseQueues, resumeQueues } from '../actions/queues.ts';
import type { OpenQueue } from './open-queue.ts';
import { checkNames, filledText } from './options.ts';
import type { Queues } from './types.ts';

const LIMITS = ['concurrency', 'rate', 'priority_aging'] satisfies (keyof QueueInput)[];

export function queues(queue: OpenQueue): Queues {
  const named = (name: unknown): string => filledText(name, 'the name of the queue');
  return {
    list: async () => listQueues(queue.app()),
    async pause(name, by = queue.actor) {
      const [paused] = await pauseQueues(queue.app(), named(name), filledText(by, 'by'));
      return paused!;
    },
    resume: async (name) => (await resumeQueues(queue.app(), named(name)))[0]!,
    async set(name, limits) {
      const changes = readQueueInput(checkNames(limits, 'queues.set()', LIMITS));
      return changeQueue(queue.app(), named(name), changes);
    },
  };
}
