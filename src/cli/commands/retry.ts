import { getJob } from '../../actions/jobs.ts';
import { notRetryableHint, previewRetry, retryJobs } from '../../actions/retry.ts';
import { jobActionCommand } from '../job-action-command.ts';
import { warnStartedAgain } from '../print-result.ts';
import { warnAfterRetry } from '../warn-dependents.ts';

export default jobActionCommand({
  name: 'retry',
  summary: 'Retry dead, cancelled or failed jobs now',
  participle: 'retried',
  examples: ['queuectl retry job1', 'queuectl retry --queue mail --yes'],
  notes: [
    'Filters skip a job that was enqueued with --at-most-once and has already started. To retry such a job, use its id.',
    'If a job fails, the jobs that depend on it (--after) are cancelled by default. If you retry only the cancelled job, it no longer waits for the failed one. If you retry both, they run in order.',
  ],
  hint: async (app, id) => notRetryableHint(id, (await getJob(app, id)).state),
  preview: (app, ids, input) => previewRetry(app, ids, { bulk: input.args.length === 0 }),
  async act(app, ids, input, { io }) {
    const acted = await retryJobs(app, ids, { bulk: input.args.length === 0 });
    warnStartedAgain(io, acted.retriedAtMostOnce);
    await warnAfterRetry(io, app, acted.changed);
    return acted;
  },
});
