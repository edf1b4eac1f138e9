import { getJobWithAttempts } from '../../actions/jobs.ts';
import { findJobId } from '../../actions/select.ts';
import { defineCommand } from '../command.ts';
import { TIME_FLAGS } from '../layout-flags.ts';
import { printJob } from '../show-job.ts';

export default defineCommand({
  name: 'show',
  summary: 'Show a job and all its attempts',
  args: 'ID',
  flags: TIME_FLAGS,
  prints: { object: 'Job', fields: ['history', 'children'] },
  examples: ['queuectl show job1', 'queuectl show job1 --json', 'queuectl show job1 --json=state,exit_code'],
  async run(context, input) {
    const reference = input.required(0, 'the job id', 'to list the jobs: queuectl list');
    const app = await context.app();
    const { job, attempts } = await getJobWithAttempts(app, await findJobId(app, reference));
    await printJob(context.io, app, job, attempts);
  },
});
