import { type QueueInput, readQueueInput } from '../../actions/queue-input.ts';
import { changeQueue } from '../../actions/queues.ts';
import { QueueError } from '../../core/errors.ts';
import { required } from '../arguments.ts';
import type { Command } from '../command.ts';
import { noteNew, printQueue } from '../queue-table.ts';

export default {
  name: 'queue set',
  summary: 'Limit a queue, over all workers and at once',
  args: 'QUEUE',
  most: 1,
  flags: {
    concurrency: { value: 'N', help: 'at most so many of its jobs at a time; none for no limit' },
    rate: {
      value: 'N/s',
      help: 'start at most so many a second (N/s), minute (N/m) or hour (N/h); none for no limit',
    },
    'priority-aging': {
      value: 'TIME',
      help: 'a waiting job gains one priority for each so long; none for no gain',
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
    'With --priority-aging no job waits for ever behind a stream of higher ones: with 1m, one of priority 0 that has been',
    'due for ten minutes stands level with a new one of priority 10, in other queues too. Jobs of the same priority keep',
    'the order of enqueueing.',
  ],
  async run({ io, app }, input) {
    const name = required(input, 0, 'the name of a queue', 'queuectl queue list');
    const given: QueueInput = {};
    for (const field of ['concurrency', 'rate', 'priority_aging'] as const) {
      const text = input.one(flagOf(field));
      if (text !== undefined) given[field] = text;
    }
    if (Object.keys(given).length === 0)
      throw new QueueError(
        'usage',
        'queue set needs --concurrency, --rate or --priority-aging',
        'queuectl help queue set',
      );
    const changes = readQueueInput(given, (field) => `--${flagOf(field)}`);
    const opened = await app();
    await noteNew(io, opened, name);
    printQueue(io, await changeQueue(opened, name, changes));
    return 0;
  },
} satisfies Command as Command;

function flagOf(field: string): string {
  return field.replace('_', '-');
}
