import { getJobWithAttempts } from '../../actions/jobs.ts';
import { wrongState } from '../../actions/retry.ts';
import { findJobId } from '../../actions/select.ts';
import { defineCommand } from '../command.ts';
import { SHORT_IDS_NOTE } from '../job-action-command.ts';
import { TIME_FLAGS } from '../layout-flags.ts';
import { printJob } from '../show-job.ts';

export default defineCommand({
  name: 'dlq show',
  summary: 'Show a dead job and all its attempts',
  args: 'ID',
  flags: TIME_FLAGS,
  prints: { object: 'Job', fields: ['history', 'children'] },
  examples: ['queuectl dlq show job1', 'queuectl dlq show @last'],
  notes: [SHORT_IDS_NOTE],
  async run(context, input) {
    const reference = input.required(0, 'the job id', 'to list the dead jobs: queuectl dlq list');
    const app = await context.app();
    const id = await findJobId(app, reference);
    const { job, attempts } = await getJobWithAttempts(app, id);
    if (job.state !== 'dead') throw wrongState(id, job.state, ['dead']);
    await printJob(context.io, app, job, attempts);
  },
});
