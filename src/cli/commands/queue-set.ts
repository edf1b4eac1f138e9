import { changeQueue } from '../../actions/queues.ts';
import { QueueError } from '../../core/errors.ts';
import { parseNumber } from '../../core/numbers.ts';
import { parseRate } from '../../core/rate.ts';
import type { QueueChanges } from '../../store/store.ts';
import { required } from '../arguments.ts';
import type { Command } from '../command.ts';
import { printQueue } from '../queue-table.ts';

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
  },
  examples: [
    'queuectl queue set mail --concurrency 2',
    'queuectl queue set api --rate 10/s',
    'queuectl queue set api --rate none',
  ],
  async run({ io, app }, input) {
    const name = required(input, 0, 'the name of a queue', 'queuectl queue list');
    const changes: QueueChanges = {};
    const limit = input.one('concurrency');
    if (limit !== undefined) {
      const none = limit.trim().toLowerCase() === 'none';
      changes.concurrency = none
        ? null
        : parseNumber(limit, '--concurrency', { min: 1, max: 1_000_000, integer: true });
    }
    const rate = input.one('rate');
    if (rate !== undefined) changes.rate = parseRate(rate, '--rate');
    if (Object.keys(changes).length === 0)
      throw new QueueError('usage', 'queue set needs --concurrency or --rate', 'queuectl help queue set');
    printQueue(io, await changeQueue(await app(), name, changes));
    return 0;
  },
} satisfies Command as Command;
