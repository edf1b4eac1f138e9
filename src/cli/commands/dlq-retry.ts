import { keyless, retry, retryAllDead } from '../../actions/retry.ts';
import { selectJobs } from '../../actions/select.ts';
import { QueueError } from '../../core/errors.ts';
import { SHORT_IDS } from '../act.ts';
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
  notes: [SHORT_IDS],
  async run(context, input) {
    if (input.has('all') === input.args.length > 0) {
      throw new QueueError(
        'usage',
        input.has('all') ? 'give ids or --all, not both' : 'give the ids of dead jobs, or --all',
        'queuectl dlq list',
      );
    }
    const app = await context.app();
    const all = input.has('all') ? await retryAllDead(app) : null;
    const retried =
      all?.changed ?? (await retry(app, await selectJobs(app, { names: input.args }), ['dead']));
    const left = all?.keyless ?? [];
    if (retried.length === 0 && left.length > 0) throw keyless(left[0]!, all!.why);
    printChanged(context.io, 'retried', retried);
    await noteCutOff(context.io, app, retried);
    if (left.length > 0) context.io.warn(`${left.length} ${all!.why}`);
    return left.length > 0 ? 7 : 0;
  },
} satisfies Command as Command;
