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
import type { Job } from '../../core/job.ts';
import { checkArgv } from '../../core/job-input.ts';
import { toJobObject } from '../../core/job-object.ts';
import { toIso } from '../../core/time.ts';
import { readTimeout } from '../arguments.ts';
import type { Command, Context, Flag, Input } from '../command.ts';
import { isTerminal, readAllInput } from '../io.ts';
import { fillFromFlags, JOB_FLAGS, readJobFlags } from '../job-flags.ts';
import { printable } from '../text.ts';
import { relative } from '../times.ts';

/** All the ways to say what is to be added. */
export const ADD_FLAGS: Record<string, Flag> = {
  command: { value: 'TEXT', short: 'c', help: 'the shell command' },
  file: { value: 'FILE', help: 'a JSON array, JSON lines or a command a line; - for standard input' },
  ...JOB_FLAGS,
};

export default {
  name: 'enqueue',
  summary: 'Add a job, or many',
  args: 'COMMAND | JSON | -- PROGRAM ARG…',
  most: 1,
  flags: {
    ...ADD_FLAGS,
    wait: { help: 'return when the job is over, with its exit code; Ctrl-C leaves it alone' },
    follow: { short: 'f', help: 'the same, and print what it writes' },
    'wait-timeout': { value: 'TIME', help: 'wait at most so long; the job goes on' },
  },
  examples: [
    "queuectl enqueue 'tar czf /tmp/home.tgz ~'",
    'queuectl enqueue \'{"id":"job1","command":"sleep 2","max_retries":5}\'',
    "queuectl enqueue --priority high --timeout 5m 'make report'",
    "queuectl enqueue -- rsync -a 'my files/' host:backup/",
    'queuectl enqueue --file jobs.jsonl',
    "queuectl enqueue --wait 'make test' && echo passed",
  ],
  notes: [
    'What begins with { or [ is JSON; anything else is a shell command. Behind -- no shell is involved.',
  ],
  rest: true,
  answersForJob: (args) => args.some((arg) => /^(-f|--follow|--wait(-timeout(=.*)?)?)$/.test(arg)),
  async run(context, input) {
    const { io } = context;
    const timeoutMs = readTimeout(input, 'wait-timeout');
    if (input.has('follow')) {
      const { jobs } = await addJobs(context, input, 1);
      if (!io.quiet && !io.json) io.err(said(jobs));
      // Only now: who does not wait should not pay for it.
      const { followToEnd } = await import('../follow-job.ts');
      return followToEnd(context, jobs[0]!.id, timeoutMs);
    }
    const { jobs, many } = await addJobs(context, input);
    const print = (shown: Job[]): void => {
      if (io.json) io.out(`${JSON.stringify(many ? shown.map(toJobObject) : toJobObject(shown[0]!))}\n`);
      else if (!io.tty || io.quiet) io.out(shown.map((job) => `${job.id}\n`).join(''));
      else io.out(said(shown));
    };
    if (input.has('wait') || timeoutMs !== null) {
      // One JSON document: the jobs as they end, not as they began.
      if (!io.json) print(jobs);
      const { howItEnded, waitForJobs } = await import('../wait-for-jobs.ts');
      const onEnd = (job: Job): void => io.note(howItEnded(job));
      return waitForJobs(context, jobs, { timeoutMs, onEnd }, (ended) => io.json && print(ended));
    }
    print(jobs);
    for (const job of jobs.slice(0, 1)) {
      if (job.runAt !== null && !io.tty) io.note(`due ${toIso(job.runAt)}`);
    }
    await hintWorkers(context);
    return 0;
  },
} satisfies Command as Command;

/** Reads what the user said, fills in what the flags say, and stores it. */
export async function addJobs(
  context: Context,
  input: Input,
  most = Number.POSITIVE_INFINITY,
): Promise<{ jobs: Job[]; many: boolean }> {
  const now = Date.now();
  const { read, many } = readInput(input, now);
  const inputs = fillFromFlags(
    read.inputs,
    readJobFlags(input, () => context.cwd, now),
  );
  if (inputs.length > most)
    throw new QueueError('usage', `only one job can be followed, and there are ${inputs.length}`);
  for (const warning of read.warnings) context.io.warn(printable(warning));
  return { jobs: await enqueue(await context.app(), inputs, () => context.cwd), many };
}

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
  const bytes = readBytes(file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new QueueError('no-such-file', `${file} is not valid UTF-8 text`);
  }
}

const UNREADABLE: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EISDIR: 'is a directory',
  EACCES: 'is not readable: permission denied',
};

function readBytes(file: string): Uint8Array {
  try {
    return file === '-' ? readAllInput() : readFileSync(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    throw new QueueError('no-such-file', `${file} ${UNREADABLE[code] ?? `cannot be read: ${code}`}`);
  }
}

function said(jobs: Job[]): string {
  if (jobs.length > 1) return `enqueued ${jobs.length} jobs, ${jobs[0]!.id} to ${jobs.at(-1)!.id}\n`;
  const [job] = jobs;
  const due = job!.runAt === null ? '' : `, due ${relative(job!.runAt, Date.now())} (${toIso(job!.runAt)})`;
  return `enqueued ${job!.id} in queue ${job!.queue}${due}\n`;
}

async function hintWorkers({ io, app }: Context): Promise<void> {
  // Only for a person: a script that enqueues should not pay for the look.
  if (!io.tty) return;
  const { activeWorkers } = await import('../../actions/workers.ts');
  if ((await activeWorkers(await app())).length === 0)
    io.note('no worker is running; start one with: queuectl worker start');
}
