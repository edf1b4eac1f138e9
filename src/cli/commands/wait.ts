import { getJob, jobObject } from '../../actions/jobs.ts';
import { selectJobs } from '../../actions/select.ts';
import type { Job } from '../../core/job.ts';
import { defineCommand } from '../command.ts';
import { FILTER_FLAGS } from '../filters.ts';
import { selectionOf } from '../job-action-command.ts';
import { jsonText } from '../layout.ts';
import { durationFlag } from '../read-flags.ts';
import { describeJobEnd, waitForJobs } from '../wait-for-jobs.ts';

export default defineCommand({
  name: 'wait',
  summary: 'Wait for jobs to finish',
  args: '(ID… | FILTERS)',
  flags: {
    ...FILTER_FLAGS,
    any: { help: 'exit as soon as one of the jobs finishes' },
    timeout: { value: 'TIME', help: 'stop waiting after this time (the jobs continue)' },
  },
  prints: { object: 'Job' },
  examples: [
    'queuectl wait job1',
    "queuectl wait job1 job2 --timeout 10m && echo 'both completed'",
    'queuectl wait --any job1 job2',
    'queuectl wait --queue mail --state pending,running',
  ],
  notes: [
    'A job is finished when it is completed, dead or cancelled. Filters select the jobs that match when the command starts.',
    'queuectl exits with 0 if all jobs completed. Otherwise it exits with the exit code of the first job that did not complete. It exits with 128+n if signal n killed that job, 130 if it was cancelled, 124 if the wait timed out, and 125 if queuectl itself failed.',
    'Ctrl-C stops queuectl but not the jobs.',
  ],
  returnsJobExitCode: () => true,
  async run(context, input) {
    const { io } = context;
    const timeoutMs = durationFlag(input, 'timeout');
    const app = await context.app();
    const ids = await selectJobs(app, selectionOf('wait', {}, input));
    const jobs = await Promise.all(ids.map((id) => getJob(app, id)));
    if (jobs.length === 0) io.warn('no jobs found, so there is nothing to wait for');
    const onEnd = (job: Job): void => {
      if (io.json || io.quiet) return;
      if (io.tty) io.out(`${describeJobEnd(job)}\n`);
      else io.out(`${job.id}\t${job.state}\t${job.exitCode ?? '-'}\n`);
    };
    return waitForJobs(context, jobs, { timeoutMs, any: input.has('any'), onEnd }, async (ended) => {
      if (!io.json) return;
      const objects = await Promise.all(ended.map((job) => jobObject(app, job)));
      io.out(`[${objects.map((object) => jsonText(io, object)).join(',')}]\n`);
    });
  },
});
