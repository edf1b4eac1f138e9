import type { App } from '../../actions/app.ts';
import { getJob } from '../../actions/jobs.ts';
import { QueueError } from '../../core/errors.ts';
import type { Job } from '../../core/job.ts';
import { toJobObject } from '../../core/job-object.ts';
import { readTimeout } from '../arguments.ts';
import type { Command, Input } from '../command.ts';
import { howItEnded, waitForJobs } from '../wait-for-jobs.ts';

export default {
  name: 'wait',
  summary: 'Wait until jobs are completed, dead or cancelled',
  args: 'ID…',
  most: Number.POSITIVE_INFINITY,
  flags: {
    any: { help: 'until the first of them is' },
    timeout: { value: 'TIME', help: 'at most so long; the jobs go on' },
  },
  examples: [
    'queuectl wait job1',
    "queuectl wait job1 job2 --timeout 10m && echo 'both went well'",
    'queuectl wait --any job1 job2',
  ],
  notes: [
    "Exits with the job's own code: 0 when all went well, else that of the first that did not; 128+n for a",
    'signal, 130 when cancelled, 124 when the time is up, 125 when queuectl itself failed. Ctrl-C ends the',
    'waiting, not the jobs.',
  ],
  answersForJob: () => true,
  async run(context, input) {
    const { io } = context;
    const timeoutMs = readTimeout(input, 'timeout');
    const jobs = await chosen(await context.app(), input);
    const onEnd = (job: Job): void => {
      if (io.json || io.quiet) return;
      if (io.tty) io.out(`${howItEnded(job)}\n`);
      else io.out(`${job.id}\t${job.state}\t${job.exitCode ?? '-'}\n`);
    };
    return waitForJobs(context, jobs, { timeoutMs, any: input.has('any'), onEnd }, (ended) => {
      if (io.json) io.out(`${JSON.stringify(ended.map(toJobObject))}\n`);
    });
  },
} satisfies Command as Command;

/** The jobs that the user means. */
async function chosen(app: App, input: Input): Promise<Job[]> {
  if (input.args.length === 0) throw new QueueError('usage', 'the id of a job is missing', 'queuectl list');
  return Promise.all(input.args.map((id) => getJob(app, id)));
}
