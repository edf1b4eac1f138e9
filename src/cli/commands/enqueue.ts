import { enqueue } from '../../actions/enqueue.ts';
import { addedObject } from '../../actions/jobs.ts';
import { looksLikeJson, type ReadJobs, readCommand, readJsonJobs } from '../../actions/read-jobs.ts';
import { QueueError } from '../../core/errors.ts';
import type { GoneJob, Job } from '../../core/job.ts';
import { checkArgv } from '../../core/job-fields.ts';
import { toIso } from '../../core/time.ts';
import { readTimeout } from '../arguments.ts';
import type { Command, Context, Flag, Input } from '../command.ts';
import { describeAdded, describeMany, orSayAdded } from '../describe-added.ts';
import { asEnqueuedHere, fillFromFlags, JOB_FLAGS, readJobFlags, withParents } from '../job-flags.ts';
import { jsonText } from '../layout.ts';
import { printable } from '../text.ts';
import { warnOfSecrets } from '../warn-of-secrets.ts';

/** What one job can be given. */
export const ADD_FLAGS: Record<string, Flag> = {
  command: { value: 'TEXT', short: 'c', help: 'the shell command' },
  ...JOB_FLAGS,
  'idempotency-key': {
    value: 'TEXT',
    help: 'say this again within a day and nothing is added: the first jobs are answered',
  },
};

export default {
  name: 'enqueue',
  summary: 'Add a job, or many',
  args: 'COMMAND | JSON | -- PROGRAM ARG…',
  most: 1,
  flags: {
    ...ADD_FLAGS,
    file: { value: 'FILE', help: 'a JSON array, JSON lines or a command a line; - for standard input' },
    template: { value: 'TEXT', help: 'with --file: the command for each line, which takes the place of {}' },
    wait: { help: 'return when the job is over, with its exit code; Ctrl-C leaves it alone' },
    follow: { short: 'f', help: 'the same, and print what it writes' },
    'wait-timeout': { value: 'TIME', help: 'wait, but at most so long; the job goes on' },
  },
  prints: { object: 'Job', fields: ['gone'] },
  examples: [
    "queuectl enqueue 'tar czf /tmp/home.tgz ~'",
    'queuectl enqueue \'{"id":"job1","command":"sleep 2","max_retries":5}\'',
    "queuectl enqueue --priority high --timeout 5m 'make report'",
    "queuectl enqueue -- rsync -a 'my files/' host:backup/",
    'queuectl enqueue --file jobs.jsonl',
    "ls *.jpg | queuectl enqueue --file - --template 'gzip -- {}'",
    "queuectl enqueue --wait 'make test' && echo passed",
    "queuectl enqueue --after build,any:lint './publish'",
    "queuectl enqueue --idempotency-key order-4711 'make invoice'",
    "queuectl enqueue --stdin @letter.txt --secret-env MAIL_TOKEN 'send-mail me@example.org'",
    "queuectl enqueue --on-dead 'mail -s \"$QUEUECTL_HOOK_JOB_ID died\" me' 'make report'",
  ],
  notes: [
    'What begins with { or [ is JSON; anything else is a shell command. Behind -- no shell is involved.',
    'A file is stored as a whole or not at all; empty lines and lines that begin with # are skipped. With --template',
    'every line but an empty one counts, and {} stands for it as one quoted word, so write {} outside quotes: a line is',
    'never shell syntax, unless the command itself runs it again (eval, sh -c, ssh). \\{} stays {}. A line that begins',
    'with - would still be an option of the program: write -- {} or ./{}, as in gzip -- {}.',
    'Jobs of one file or array may wait for each other by id, in "depends_on": ["a", {"id": "b", "on": "any"}].',
    'An idempotency key is for who cannot know whether an enqueue arrived, and repeats it: all of its jobs, once. The',
    'same key with anything else said is refused; --delay counts as it was said, what was left open does not.',
    'A secret in --env or in the command is stored as it is, and warned of: --secret-env NAME takes it from the worker.',
    'The --on-… commands run as jobs of the queue hooks, which every worker serves, with QUEUECTL_HOOK_EVENT, _JOB_ID,',
    '_STATE, _EXIT_CODE, _ERROR, _QUEUE and _ATTEMPTS in their environment. They replace the settings of the same names',
    'for this job; none: no command. What happens to a hook, and to what it enqueues, triggers none.',
  ],
  rest: true,
  answersForJob: (args) => args.some((arg) => /^(-f|--follow|--wait(-timeout(=.*)?)?)$/.test(arg)),
  async run(context, input) {
    checkForms('enqueue', input);
    const timeoutMs = readTimeout(input, 'wait-timeout');
    if (input.has('follow')) return addAndFollow(context, input, timeoutMs);
    const waits = input.has('wait') || timeoutMs !== null;
    const added = input.has('file') ? await addFile(context, input, waits) : await addJobs(context, input);
    if (waits) return addedAndWait(context, added, timeoutMs, !input.has('file'));
    if (!input.has('file')) await told(context, added);
    for (const job of added.jobs.slice(0, 1)) {
      if (!('gone' in job) && job.runAt !== null && !context.io.tty)
        context.io.note(`due ${toIso(job.runAt)}`);
    }
    await hintWorkers(context, added);
    return 0;
  },
} satisfies Command as Command;

interface Added {
  jobs: (Job | GoneJob)[];
  /** An array was given, so an array is printed. */
  many: boolean;
}

/** Reads what the user said of one job or an array of them, fills in what the flags say, and stores it. */
export async function addJobs(
  context: Context,
  input: Input,
  most = Number.POSITIVE_INFINITY,
): Promise<Added> {
  const now = Date.now();
  const { read, many } = readInput(input, now);
  const flags = readJobFlags(input, { environment: context.environment, cwd: () => context.cwd }, now);
  const inputs = fillFromFlags(read.inputs, await withParents(context, flags));
  if (inputs.length > most)
    throw new QueueError('usage', `only one job can be followed, and there are ${inputs.length}`);
  for (const warning of read.warnings) context.io.warn(printable(warning));
  warnOfSecrets(context.io, inputs);
  const jobs = inputs.map((job) => asEnqueuedHere(job, context.environment));
  // Read before the store is opened: where it is refused, no store is made.
  const cwd = jobs.some((job) => job.cwd === undefined) ? context.cwd : '/';
  return { jobs: await enqueue(await context.app(), jobs, () => cwd), many };
}

/** Those whose end can be waited for, which is all of them unless one is gone. */
export function notGone(jobs: (Job | GoneJob)[]): Job[] {
  return jobs.map((job) => {
    if (!('gone' in job)) return job;
    throw new QueueError('job-not-found', `job '${job.id}' of this key has been removed since it was added`);
  });
}

/** A file may be longer than memory: its jobs are read back only for somebody who waits for them. */
async function addFile(context: Context, input: Input, waits: boolean): Promise<Added> {
  const { enqueueFile } = await import('../enqueue-file.ts');
  const ids = await enqueueFile(context, input, input.one('file')!, !(waits && context.io.json));
  if (!waits) return { jobs: [], many: true };
  const { getJob } = await import('../../actions/jobs.ts');
  const app = await context.app();
  const jobs: Job[] = [];
  for (const id of ids) jobs.push(await getJob(app, id));
  return { jobs, many: true };
}

async function addAndFollow(context: Context, input: Input, timeoutMs: number | null): Promise<number> {
  if (input.has('file')) throw new QueueError('usage', 'only one job can be followed, not a file of them');
  const jobs = notGone((await addJobs(context, input, 1)).jobs);
  const { io } = context;
  if (!io.quiet && !io.json) io.err(describeAdded(jobs[0]!, Date.now()));
  // Only now: who does not wait should not pay for it.
  const { followToEnd } = await import('../follow-job.ts');
  return followToEnd(context, jobs[0]!.id, timeoutMs);
}

async function addedAndWait(
  context: Context,
  added: Added,
  timeoutMs: number | null,
  shows: boolean,
): Promise<number> {
  const { io } = context;
  const open = notGone(added.jobs);
  // One JSON document: the jobs as they end, not as they began.
  if (shows && !io.json) await told(context, added);
  const { howItEnded, waitForJobs } = await import('../wait-for-jobs.ts');
  const onEnd = (job: Job): void => io.note(howItEnded(job));
  return waitForJobs(context, open, { timeoutMs, onEnd }, async (jobs) => {
    if (io.json) await print(context, { ...added, jobs });
  });
}

function told(context: Context, added: Added): Promise<void> {
  return orSayAdded(
    added.jobs.map((job) => job.id),
    () => print(context, added),
  );
}

async function print(context: Context, { jobs, many }: Added): Promise<void> {
  const { io } = context;
  if (io.json) {
    const app = await context.app();
    const objects = await Promise.all(jobs.map((job) => addedObject(app, job)));
    const texts = objects.map((object) => jsonText(io, object));
    io.out(many ? `[${texts.join(',')}]\n` : `${texts[0]}\n`);
  } else if (!io.tty || io.quiet) io.out(jobs.map((job) => `${job.id}\n`).join(''));
  else if (jobs.length > 1)
    io.out(
      describeMany(
        jobs.length,
        jobs[0]!.id,
        jobs.at(-1)!.id,
        jobs.every((job) => job.existing),
      ),
    );
  else io.out(describeAdded(jobs[0]!, Date.now()));
}

export function checkForms(name: string, input: Input): void {
  const forms = [input.args[0], input.one('command'), input.one('file'), input.rest ?? undefined].filter(
    (form) => form !== undefined,
  );
  if (forms.length !== 1) {
    const problem = forms.length === 0 ? `${name} needs a command` : 'give the job in one way only';
    throw new QueueError('usage', problem, `queuectl ${name} 'echo hello'`);
  }
  if (input.has('template') && !input.has('file'))
    throw new QueueError(
      'usage',
      '--template needs the lines of a --file',
      "queuectl enqueue --template 'gzip -- {}' --file -",
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

async function hintWorkers({ io, app }: Context, { jobs }: Added): Promise<void> {
  // Only for a person: a script that enqueues should not pay for the look.
  if (!io.tty) return;
  const { standstill } = await import('../../actions/standstill.ts');
  const queues = [...new Set(jobs.flatMap((job) => ('queue' in job ? [job.queue] : [])))];
  for (const problem of await standstill(await app(), queues)) io.note(problem);
}
