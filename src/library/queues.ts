import { type QueueInput, readQueueInput } from '../actions/queue-input.ts';
import { changeQueue, listQueues, pauseQueues, resumeQueues } from '../actions/queues.ts';
import type { OpenQueue } from './open-queue.ts';
import { checkOptionNames, nonBlankText } from './options.ts';
import type { Queues } from './types.ts';

const LIMIT_NAMES = ['concurrency', 'rate', 'priority_aging'] satisfies (keyof QueueInput)[];

/** Returns the methods of the library that manage queues. */
export function queuesOf(queue: OpenQueue): Queues {
  const checkedName = (name: unknown): string => nonBlankText(name, 'the name of the queue');
  return {
    list: async () => listQueues(queue.app()),
    async pause(name, by = queue.actor) {
      const [paused] = await pauseQueues(queue.app(), checkedName(name), nonBlankText(by, 'by'));
      return paused!;
    },
    resume: async (name) => (await resumeQueues(queue.app(), checkedName(name)))[0]!,
    async set(name, limits) {
      const changes = readQueueInput(checkOptionNames(limits, 'queues.set()', LIMIT_NAMES));
      return changeQueue(queue.app(), checkedName(name), changes);
    },
  };
}
