import { readTimeout } from '../arguments.ts';
import { defineCommand, inGroup } from '../command.ts';
import { inForeground } from '../foreground.ts';
import { quotedCommand, refuseFile } from '../job-argument.ts';
import { JOB_FLAGS } from '../job-flags.ts';
import { addJobs, checkForms, notGone } from './enqueue.ts';

export default defineCommand({
  name: 'run',
  summary: 'Run a job, print its output and return its exit code',
  args: '(COMMAND | JSON | -- PROGRAM ARG…)',
  most: 1,
  access: 'write',
  creates: true,
  flags: {
    ...JOB_FLAGS,
    ...inGroup('Output', {
      raw: { help: 'do not escape control characters on a terminal' },
      'wait-timeout': { value: 'TIME', help: 'stop waiting after this time (the job continues)' },
    }),
  },
  prints: { object: 'Job' },
  examples: [
    "queuectl run 'make test'",
    'queuectl run --max-retries 1 --timeout 5m -- ./deploy staging',
    "queuectl run --queue gpu 'python train.py' >train.log",
  ],
  notes: [
    'queuectl adds the job to the queue and waits for it. A worker must be running.',
    'queuectl exits with the exit code of the job. It exits with 128+n if signal n killed the job, 130 if the job was cancelled, 124 if the wait timed out, and 125 if queuectl itself failed.',
    'Ctrl-C and SIGTERM are forwarded to the job, and the job is not retried. If it has not started yet, it is cancelled. If you press Ctrl-C again, queuectl exits at once and the job continues.',
  ],
  rest: true,
  answersForJob: () => true,
  instead: (words) => quotedCommand('run', words),
  async run(context, input) {
    refuseFile(input);
    checkForms('run', input);
    const timeoutMs = readTimeout(input, 'wait-timeout');
    const [job] = notGone((await addJobs(context, input, 1)).jobs);
    return inForeground(context, job!, { raw: input.has('raw'), timeoutMs });
  },
});
