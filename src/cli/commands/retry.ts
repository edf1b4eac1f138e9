import { retryJobs } from '../../actions/act.ts';
import { actingCommand } from '../act.ts';
import { warnStartedAgain } from '../changed.ts';
import { noteCutOff } from '../cut-off.ts';

export default actingCommand({
  name: 'retry',
  summary: 'Put dead, cancelled or failed jobs back in their queue',
  done: 'retried',
  examples: ['queuectl retry job1', 'queuectl retry --queue mail --yes'],
  notes: [
    'An at-most-once job that was started before is retried only by its id. Filters skip it.',
    'A job that was cancelled because one it waited for had failed runs without it, unless that one is retried, too.',
  ],
  async act(app, ids, input, { io }) {
    const acted = await retryJobs(app, ids, { bulk: input.args.length === 0 });
    warnStartedAgain(io, acted.startedAgain);
    await noteCutOff(io, app, acted.changed);
    return acted;
  },
});
