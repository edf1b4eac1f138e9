import { readTimeout } from '../arguments.ts';
import { defineCommand, inGroup } from '../command.ts';
import { inForeground } from '../foreground.ts';
import { JOB_FLAGS } from '../job-flags.ts';
import { addJobs, checkForms, notGone } from './enqueue.ts';

export default defineCommand({
  name: 'run',
  summary: 'Run a job, print its output, exit with its exit code',
  args: '(COMMAND | JSON | -- PROGRAM ARG…)',
  most: 1,
  access: 'write',
  creates: true,
  flags: {
    ...JOB_FLAGS,
    ...inGroup('Output', {
      raw: { help: 'do not escape control characters on a terminal' },
      'wait-timeout': { value: 'TIME', help: 'stop following after this time; the job continues' },
    }),
  },
  prints: { object: 'Job' },
  examples: [
    "queuectl run 'make test'",
    'queuectl run --max-retries 1 --timeout 5m -- ./deploy staging',
    "queuectl run --queue gpu 'python train.py' >train.log",
  ],
  notes: [
    'The exit code is 128+n if a signal ended the job, 130 if it was cancelled, 124 after the wait timeout, and 125 if queuectl itself failed.',
    'Ctrl-C and SIGTERM are forwarded to the job. A job that has not started or would be retried is cancelled. A second Ctrl-C exits at once.',
  ],
  rest: true,
  answersForJob: () => true,
  async run(context, input) {
    checkForms('run', input);
    const timeoutMs = readTimeout(input, 'wait-timeout');
    const [job] = notGone((await addJobs(context, input, 1)).jobs);
    return inForeground(context, job!, { raw: input.has('raw'), timeoutMs });
  },
});
