import { readSync } from 'node:fs';
import { countJobs } from '../../actions/jobs.ts';
import { purgeDead } from '../../actions/purge.ts';
import { QueueError } from '../../core/errors.ts';
import { printChanged } from '../changed.ts';
import type { Command, Context } from '../command.ts';
import { isTerminal } from '../io.ts';

export default {
  name: 'dlq purge',
  summary: 'Delete dead jobs for good, with their output',
  args: '[ID…]',
  most: Number.POSITIVE_INFINITY,
  flags: { yes: { short: 'y', help: 'do not ask' } },
  examples: ['queuectl dlq purge job2', 'queuectl dlq purge --yes'],
  async run(context, input) {
    const app = await context.app();
    if (input.args.length === 0 && !input.has('yes')) {
      const total = await countJobs(app, { states: ['dead'] });
      if (total > 0 && !confirmed(context, `delete ${total} dead jobs for good?`)) return 1;
    }
    printChanged(context.io, 'purged', await purgeDead(app, input.args.length === 0 ? null : input.args));
    return 0;
  },
} satisfies Command as Command;

function confirmed({ io, environment }: Context, question: string): boolean {
  if (!isTerminal(0) || !isTerminal(2) || environment.CI) {
    throw new QueueError(
      'needs-yes',
      `${question.replace(/\?$/, '')}: this needs a yes`,
      'queuectl dlq purge --yes',
    );
  }
  io.err(`${question} [y/N] `);
  const answer = Buffer.alloc(16);
  return /^y(es)?$/i.test(answer.toString('utf8', 0, readSync(0, answer)).trim());
}
