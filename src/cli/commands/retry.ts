import { retryJobs } from '../../actions/retry.ts';
import { actingCommand } from '../act.ts';
import { warnStartedAgain } from '../print-changed.ts';
import { warnStillCancelled } from '../warn-dependents.ts';

export default actingCommand({
  name: 'retry',
  summary: 'Retry dead, cancelled or failed jobs now',
  done: 'retried',
  examples: ['queuectl retry job1', 'queuectl retry --queue mail --yes'],
  notes: [
    'An at-most-once job that was started before is retried only by its id. Filters skip it.',
    'A job that was cancelled because a parent job failed runs without that parent, unless you retry the parent too.',
  ],
  async act(app, ids, input, { io }) {
    const acted = await retryJobs(app, ids, { bulk: input.args.length === 0 });
    warnStartedAgain(io, acted.startedAgain);
    await warnStillCancelled(io, app, acted.changed);
    return acted;
  },
});
