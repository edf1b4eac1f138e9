import { readTimeout } from '../arguments.ts';
import type { Command } from '../command.ts';
import { inForeground } from '../foreground.ts';
import { ADD_FLAGS, addJobs, checkForms, notGone } from './enqueue.ts';

export default {
  name: 'run',
  summary: 'Add a job, follow its output and exit with its code',
  args: 'COMMAND | JSON | -- PROGRAM ARG…',
  most: 1,
  flags: {
    ...ADD_FLAGS,
    raw: { help: 'to a terminal too exactly as written, escape sequences included' },
    'wait-timeout': { value: 'TIME', help: 'follow it at most so long; the job goes on' },
  },
  prints: { object: 'Job' },
  examples: [
    "queuectl run 'make test'",
    'queuectl run --max-retries 1 --timeout 5m -- ./deploy staging',
    "queuectl run --queue gpu 'python train.py' >train.log",
  ],
  notes: [
    "Exits with the job's own code; 128+n for a signal, 130 when cancelled, 124 when the time is up, 125 when",
    'queuectl itself failed. Ctrl-C and SIGTERM are passed on to the job, which is cancelled when it does not run yet',
    'or would be tried again. A second Ctrl-C leaves at once.',
  ],
  rest: true,
  answersForJob: () => true,
  async run(context, input) {
    checkForms('run', input);
    const timeoutMs = readTimeout(input, 'wait-timeout');
    const [job] = notGone((await addJobs(context, input, 1)).jobs);
    return inForeground(context, job!, { raw: input.has('raw'), timeoutMs });
  },
} satisfies Command as Command;
