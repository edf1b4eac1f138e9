import { type QueueInput, readQueueInput } from '../actions/queue-input.ts';
import { changeQueue, listQueues, resumeQueue } from '../actions/queues.ts';
import type { OpenQueue } from './open-queue.ts';
import { checkNames, filledText } from './options.ts';
import type { Queues } from './types.ts';

const LIMITS = ['concurrency', 'rate', 'priority_aging'] satisfies (keyof QueueInput)[];

export function queues(queue: OpenQueue): Queues {
  const named = (name: unknown): string => filledText(name, 'the name of the queue');
  return {
    list: async () => listQueues(queue.app()),
    async pause(name, by = queue.actor) {
      const app = queue.app();
      return changeQueue(app, named(name), { paused: { at: app.clock.now(), by: filledText(by, 'by') } });
    },
    resume: async (name) => resumeQueue(queue.app(), named(name)),
    async set(name, limits) {
      const changes = readQueueInput(checkNames(limits, 'queues.set()', LIMITS));
      return changeQueue(queue.app(), named(name), changes);
    },
  };
}
