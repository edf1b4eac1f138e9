import { retry, retryAllDead } from '../../actions/retry.ts';
import { QueueError } from '../../core/errors.ts';
import { printChanged } from '../changed.ts';
import type { Command } from '../command.ts';
import { noteCutOff } from '../cut-off.ts';

export default {
  name: 'dlq retry',
  summary: 'Put dead jobs back in their queue, with all their attempts before them',
  args: 'ID… | --all',
  most: Number.POSITIVE_INFINITY,
  flags: { all: { help: 'every dead job' } },
  examples: ['queuectl dlq retry job2', 'queuectl dlq retry --all'],
  async run(context, input) {
    if (input.has('all') === input.args.length > 0) {
      throw new QueueError(
        'usage',
        input.has('all') ? 'give ids or --all, not both' : 'give the ids of dead jobs, or --all',
        'queuectl dlq list',
      );
    }
    const app = await context.app();
    const ids = input.has('all') ? await retryAllDead(app) : await retry(app, input.args, ['dead']);
    printChanged(context.io, 'retried', ids);
    await noteCutOff(context.io, app, ids);
    return 0;
  },
} satisfies Command as Command;
