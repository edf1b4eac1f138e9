import { type QueueInput, readQueueInput } from '../../actions/queue-input.ts';
import { changeQueue } from '../../actions/queues.ts';
import { usageError } from '../../core/errors.ts';
import { defineCommand } from '../command.ts';
import { noteNewQueue, printQueue } from '../queue-table.ts';

export default defineCommand({
  name: 'queue set',
  summary: "Set a queue's concurrency, rate limit or priority aging",
  args: 'QUEUE',
  access: 'write',
  creates: true,
  flags: {
    concurrency: { value: 'N', help: 'maximum number of concurrent jobs; none removes the limit' },
    rate: {
      value: 'N/s',
      help: 'maximum number of jobs started per second (N/s), minute (N/m) or hour (N/h); none removes the limit',
    },
    'priority-aging': {
      value: 'TIME',
      help: 'raise the priority of a waiting job by 1 every TIME; none turns this off',
    },
  },
  prints: { object: 'Queue' },
  examples: [
    'queuectl queue set mail --concurrency 2',
    'queuectl queue set api --rate 10/s',
    'queuectl queue set api --rate none',
    'queuectl queue set mail --priority-aging 1m',
  ],
  notes: [
    'Limits apply across all workers. Changes take effect immediately.',
    'Priority aging keeps jobs with a low priority from waiting forever. With --priority-aging 1m, a job with priority 0 that has been due for ten minutes is treated like a new job with priority 10, even when it is compared with jobs in other queues. Jobs with the same priority run in the order in which they were enqueued.',
  ],
  async run({ io, app }, input) {
    const name = input.required(0, 'the queue name', 'to list the queues: queuectl queue list');
    const given: QueueInput = {};
    for (const field of ['concurrency', 'rate', 'priority_aging'] as const) {
      const text = input.one(flagOf(field));
      if (text !== undefined) given[field] = text;
    }
    if (Object.keys(given).length === 0)
      throw usageError(
        'queue set requires --concurrency, --rate or --priority-aging',
        'for help: queuectl help queue set',
      );
    const changes = readQueueInput(given, (field) => `--${flagOf(field)}`);
    const opened = await app();
    await noteNewQueue(io, opened, name);
    printQueue(io, await changeQueue(opened, name, changes));
  },
});

function flagOf(field: string): string {
  return field.replace('_', '-');
}
