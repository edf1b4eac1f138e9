import { enqueue } from '../../actions/enqueue.ts';
import { looksLikeJson, type ReadJobs, readCommand, readJsonJobs } from '../../actions/read-jobs.ts';
import { QueueError } from '../../core/errors.ts';
import { checkArgv } from '../../core/job-input.ts';
import { toJobObject } from '../../core/job-object.ts';
import { toIso } from '../../core/time.ts';
import type { Command, Context, Input } from '../command.ts';
import { describeAdded, describeMany } from '../describe-added.ts';
import { fillFromFlags, JOB_FLAGS, readJobFlags } from '../job-flags.ts';
import { printable } from '../text.ts';

export default {
  name: 'enqueue',
  summary: 'Add a job, or many',
  args: 'COMMAND | JSON | -- PROGRAM ARG…',
  most: 1,
  flags: {
    command: { value: 'TEXT', short: 'c', help: 'the shell command' },
    file: { value: 'FILE', help: 'a JSON array, JSON lines or a command a line; - for standard input' },
    template: { value: 'TEXT', help: 'with --file: the command for each line, which takes the place of {}' },
    ...JOB_FLAGS,
  },
  examples: [
    "queuectl enqueue 'tar czf /tmp/home.tgz ~'",
    'queuectl enqueue \'{"id":"job1","command":"sleep 2","max_retries":5}\'',
    "queuectl enqueue --priority high --timeout 5m 'make report'",
    "queuectl enqueue -- rsync -a 'my files/' host:backup/",
    'queuectl enqueue --file jobs.jsonl',
    "ls *.jpg | queuectl enqueue --file - --template 'convert {} {}.png'",
  ],
  notes: [
    'What begins with { or [ is JSON; anything else is a shell command. Behind -- no shell is involved.',
    'A file is stored as a whole or not at all; empty lines and lines that begin with # are skipped. With --template',
    'every line but an empty one counts, and {} stands for it as one quoted word, so write {} outside quotes: a line is',
    'never shell syntax, unless the command itself runs it again (eval, sh -c, ssh). \\{} stays {}.',
  ],
  async run(context, input) {
    const { io } = context;
    checkForms(input);
    const file = input.one('file');
    if (file !== undefined) {
      const { enqueueFile } = await import('../enqueue-file.ts');
      await enqueueFile(context, input, file);
      await hintWorkers(context);
      return 0;
    }
    const now = Date.now();
    const { read, many } = readInput(input, now);
    const inputs = fillFromFlags(
      read.inputs,
      readJobFlags(input, () => context.cwd, now),
    );
    for (const warning of read.warnings) io.warn(printable(warning));
    const app = await context.app();
    const jobs = await enqueue(app, inputs, () => context.cwd);
    if (io.json) io.out(`${JSON.stringify(many ? jobs.map(toJobObject) : toJobObject(jobs[0]!))}\n`);
    else if (!io.tty || io.quiet) io.out(jobs.map((job) => `${job.id}\n`).join(''));
    else if (jobs.length > 1) io.out(describeMany(jobs.length, jobs[0]!.id, jobs.at(-1)!.id));
    else io.out(describeAdded(jobs[0]!, now));
    for (const job of jobs.slice(0, 1)) {
      if (job.runAt !== null && !io.tty) io.note(`due ${toIso(job.runAt)}`);
    }
    await hintWorkers(context);
    return 0;
  },
} satisfies Command as Command;

function checkForms(input: Input): void {
  const forms = [input.args[0], input.one('command'), input.one('file'), input.rest ?? undefined].filter(
    (form) => form !== undefined,
  );
  if (forms.length !== 1) {
    const problem = forms.length === 0 ? 'enqueue needs a command' : 'give the job in one way only';
    throw new QueueError('usage', problem, "queuectl enqueue 'echo hello'");
  }
  if (input.has('template') && !input.has('file'))
    throw new QueueError(
      'usage',
      '--template needs the lines of a --file',
      "queuectl enqueue --template 'gzip {}' --file -",
    );
}

function readInput(input: Input, now: number): { read: ReadJobs; many: boolean } {
  const [text] = input.args;
  if (input.rest !== null) return one({ argv: checkArgv(input.rest, 'the command') });
  if (text !== undefined && looksLikeJson(text))
    return { read: readJsonJobs(text, now), many: text.trimStart().startsWith('[') };
  return one(readCommand(text ?? input.one('command')!));
}

function one(job: ReadJobs['inputs'][number]): { read: ReadJobs; many: boolean } {
  return { read: { inputs: [job], warnings: [] }, many: false };
}

async function hintWorkers({ io, app }: Context): Promise<void> {
  // Only for a person: a script that enqueues should not pay for the look.
  if (!io.tty) return;
  const { activeWorkers } = await import('../../actions/workers.ts');
  if ((await activeWorkers(await app())).length === 0)
    io.note('no worker is running; start one with: queuectl worker start');
}
