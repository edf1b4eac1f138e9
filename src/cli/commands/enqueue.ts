import { readFileSync } from 'node:fs';
import { enqueue } from '../../actions/enqueue.ts';
import {
  looksLikeJson,
  type ReadJobs,
  readCommand,
  readJobFile,
  readJsonJobs,
} from '../../actions/read-jobs.ts';
import { QueueError } from '../../core/errors.ts';
import { withoutHooks } from '../../core/hooks.ts';
import type { Job } from '../../core/job.ts';
import { checkArgv } from '../../core/job-input.ts';
import { toJobObject } from '../../core/job-object.ts';
import { toIso } from '../../core/time.ts';
import type { Command, Context, Input } from '../command.ts';
import { isTerminal } from '../io.ts';
import { fillFromFlags, JOB_FLAGS, readJobFlags } from '../job-flags.ts';
import { printable } from '../text.ts';
import { relative } from '../times.ts';

export default {
  name: 'enqueue',
  summary: 'Add a job, or many',
  args: 'COMMAND | JSON | -- PROGRAM ARG…',
  most: 1,
  flags: {
    command: { value: 'TEXT', short: 'c', help: 'the shell command' },
    file: { value: 'FILE', help: 'a JSON array, JSON lines or a command a line; - for standard input' },
    ...JOB_FLAGS,
  },
  examples: [
    "queuectl enqueue 'tar czf /tmp/home.tgz ~'",
    'queuectl enqueue \'{"id":"job1","command":"sleep 2","max_retries":5}\'',
    "queuectl enqueue --priority high --timeout 5m 'make report'",
    "queuectl enqueue -- rsync -a 'my files/' host:backup/",
    'queuectl enqueue --file jobs.jsonl',
    "queuectl enqueue --on-dead 'mail -s \"$QUEUECTL_HOOK_JOB_ID died\" me' 'make report'",
  ],
  notes: [
    'What begins with { or [ is JSON; anything else is a shell command. Behind -- no shell is involved.',
    'The --on-… commands run as jobs of the queue hooks, which every worker serves,',
    'with QUEUECTL_HOOK_EVENT, _JOB_ID, _STATE, _EXIT_CODE, _ERROR, _QUEUE and',
    '_ATTEMPTS in their environment. They replace the settings of the same names',
    'for this job; none: no command. What happens to a hook, and to what it',
    'enqueues, triggers none.',
  ],
  async run(context, input) {
    const { io } = context;
    const now = Date.now();
    const { read, many } = readInput(input, now);
    const given = fillFromFlags(read.inputs, readJobFlags(input, context.cwd, now));
    const inputs = context.environment.QUEUECTL_HOOK_EVENT ? given.map(withoutHooks) : given;
    for (const warning of read.warnings) io.warn(printable(warning));
    const app = await context.app();
    const jobs = await enqueue(app, inputs, context.cwd);
    if (io.json) io.out(`${JSON.stringify(many ? jobs.map(toJobObject) : toJobObject(jobs[0]!))}\n`);
    else if (!io.tty || io.quiet) io.out(jobs.map((job) => `${job.id}\n`).join(''));
    else io.out(said(jobs, now));
    for (const job of jobs.slice(0, 1)) {
      if (job.runAt !== null && !io.tty) io.note(`due ${toIso(job.runAt)}`);
    }
    await hintWorkers(context);
    return 0;
  },
} satisfies Command as Command;

/** One job in one of its forms, or a file of them. */
function readInput(input: Input, now: number): { read: ReadJobs; many: boolean } {
  const [text] = input.args;
  const forms = [text, input.one('command'), input.one('file'), input.rest ?? undefined].filter(
    (form) => form !== undefined,
  );
  if (forms.length !== 1) {
    const problem = forms.length === 0 ? 'enqueue needs a command' : 'give the job in one way only';
    throw new QueueError('usage', problem, "queuectl enqueue 'echo hello'");
  }
  if (input.rest !== null) return one({ argv: checkArgv(input.rest, 'the command') });
  const file = input.one('file');
  if (file !== undefined) return { read: readJobFile(readText(file), now), many: true };
  if (text !== undefined && looksLikeJson(text))
    return { read: readJsonJobs(text, now), many: text.trimStart().startsWith('[') };
  return one(readCommand(text ?? input.one('command')!));
}

function one(job: ReadJobs['inputs'][number]): { read: ReadJobs; many: boolean } {
  return { read: { inputs: [job], warnings: [] }, many: false };
}

function readText(file: string): string {
  if (file === '-' && isTerminal(0))
    throw new QueueError(
      'usage',
      '--file - reads standard input, and that is a terminal',
      'queuectl enqueue --file jobs.txt',
    );
  try {
    const bytes = readFileSync(file === '-' ? 0 : file);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const why =
      code === 'ENOENT'
        ? 'does not exist'
        : code === 'EISDIR'
          ? 'is a directory'
          : code === 'EACCES'
            ? 'is not readable'
            : null;
    throw new QueueError('no-such-file', why === null ? `${file} is not valid UTF-8 text` : `${file} ${why}`);
  }
}

function said(jobs: Job[], now: number): string {
  if (jobs.length > 1) return `enqueued ${jobs.length} jobs, ${jobs[0]!.id} to ${jobs.at(-1)!.id}\n`;
  const [job] = jobs;
  const due = job!.runAt === null ? '' : `, due ${relative(job!.runAt, now)} (${toIso(job!.runAt)})`;
  return `enqueued ${job!.id} in queue ${job!.queue}${due}\n`;
}

async function hintWorkers({ io, app }: Context): Promise<void> {
  // Only for a person: a script that enqueues should not pay for the look.
  if (!io.tty) return;
  const { activeWorkers } = await import('../../actions/workers.ts');
  if ((await activeWorkers(await app())).length === 0)
    io.note('no worker is running; start one with: queuectl worker start');
}
