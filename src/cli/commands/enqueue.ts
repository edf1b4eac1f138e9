import { enqueue } from '../../actions/enqueue.ts';
import { looksLikeJson, readCommand } from '../../actions/read-command.ts';
import type { ReadJobs } from '../../actions/read-jobs.ts';
import { QueueError, usageError } from '../../core/errors.ts';
import type { GoneJob, Job } from '../../core/job.ts';
import type { JobInput } from '../../core/job-input.ts';
import { type Context, defineCommand, type Input, inGroup } from '../command.ts';
import { severalWordsHint, withFileArgument } from '../job-argument.ts';
import { jsonText } from '../layout.ts';
import { printAdded } from '../print-added.ts';
import { printable } from '../text.ts';
import { warnOfSecrets } from '../warn-of-secrets.ts';

export default defineCommand({
  name: 'enqueue',
  summary: 'Add one or more jobs',
  args: '(COMMAND | JSON | @FILE | -- PROGRAM ARG…)',
  access: 'write',
  creates: true,
  flags: async () => ({
    ...(await import('../job-flags.ts')).jobFlags(),
    ...inGroup('What to run', {
      file: {
        value: 'FILE',
        help: 'read jobs from a file (- for standard input): a JSON array, JSON lines, or one command per line',
      },
      again: { value: 'ID', help: 'add a new job with the definition of this one; other flags change it' },
      template: {
        value: 'TEXT',
        help: 'with --file: run this command for each line, with {} replaced by the line',
      },
      stream: { help: 'with --file: store each line as soon as it arrives, and print its id at once' },
    }),
    ...inGroup('Output', {
      wait: { help: 'wait until the job finishes and exit with its exit code' },
      follow: { short: 'f', help: 'like --wait, but also print the output of the job' },
      'wait-timeout': {
        value: 'TIME',
        help: 'like --wait, but stop waiting after this time (the job continues)',
      },
    }),
  }),
  prints: { object: 'Job', fields: ['gone'] },
  examples: [
    '# Run a shell command',
    "queuectl enqueue 'tar czf /tmp/home.tgz ~'",
    '# Run a program without a shell',
    "queuectl enqueue -- rsync -a 'my files/' host:backup/",
    '# Describe the job in JSON',
    'queuectl enqueue \'{"id":"job1","command":"sleep 2","max_retries":5}\'',
    '# Set a priority and a timeout',
    "queuectl enqueue --priority high --timeout 5m 'make report'",
    '# Wait for the result',
    "queuectl enqueue --wait 'make test' && echo passed",
    '# Add many jobs from a file',
    'queuectl enqueue --file jobs.jsonl',
    '# Run a finished job again as a new job',
    'queuectl enqueue --again job1 --priority high',
    '# Add one job for each line of standard input',
    "ls *.jpg | queuectl enqueue --file - --template 'gzip -- {}'",
    '# Keep one process open for a loop',
    "tail -f names.txt | queuectl enqueue --file - --stream --template 'gzip -- {}'",
    '# Run the job after other jobs',
    "queuectl enqueue --after build,any:lint './publish'",
    '# Make the command safe to repeat',
    "queuectl enqueue --idempotency-key order-4711 'make invoice'",
    '# Pass standard input and a secret',
    "queuectl enqueue --stdin @letter.txt --secret-env TOKEN './send-mail ana'",
    '# Run a hook if the job becomes dead',
    "queuectl enqueue --on-dead './notify \"$QUEUECTL_HOOK_JOB_ID\"' 'make report'",
  ],
  notes: [
    'An argument that starts with { or [ is read as JSON, and @FILE is the same as --file FILE. Any other argument is a shell command. The program after -- runs without a shell.',
    'If any job in a file is invalid, none of the jobs are added. Empty lines and lines that start with # are skipped. Jobs in the same file or JSON array can depend on each other: "depends_on": ["a", {"id": "b", "on": "any"}].',
    'With --template, queuectl replaces {} with the line, quoted for the shell. Do not write quotes around {}. The shell does not interpret special characters in the line, unless the command passes it to another shell (eval, sh -c, ssh). Lines that start with # are not skipped. Write \\{} for a literal {}. If a line could start with a dash, write ./{} for a file name, or put -- in front of {}.',
    'With --stream, each line is added on its own: a JSON object, a command, or a value for --template. The id of each job, or the job with --json, is printed as soon as the job is stored. A line that is invalid adds nothing. It is reported with its number, the next lines are still added, and the exit code at the end of the input is not 0.',
    'A job added with --again has its own id, is due at once and waits for no other job. Everything else is the same, unless a flag changes it.',
    'Use --idempotency-key if you may have to repeat the command, for example after a lost connection. The key covers all jobs that the command adds. It is an error to use the same key for different jobs.',
    'Shell commands and the values of --env are stored in plain text. queuectl warns you if they seem to contain a secret. Use --secret-env for secrets.',
    "See 'queuectl help retries' for the retry rules and 'queuectl help hooks' for hooks.",
  ],
  returnsJobExitCode: (args) =>
    args.some((arg) => arg.startsWith('-') && /^(-f|--follow|--wait(-timeout(=.*)?)?)$/.test(arg)),
  usageHint: (words, flags) => severalWordsHint('enqueue', words, flags),
  async run(context, given) {
    const input = withFileArgument(given);
    checkGivenOnce('enqueue', input);
    if (input.has('stream'))
      return (await import('../enqueue-stream.ts')).enqueueStream(context, input, input.one('file')!);
    const timeoutMs = await waitTimeout(input);
    if (input.has('follow')) return addAndFollow(context, input, timeoutMs);
    const waits = input.has('wait') || timeoutMs !== null;
    const added = input.has('file')
      ? await addFile(context, input, waits)
      : await addJobs(context, input, { isBrief: !waits });
    if (waits) return waitForAdded(context, added, timeoutMs, !input.has('file'));
    if (!input.has('file')) await printNew(context, added);
    for (const job of added.jobs.slice(0, 1)) {
      if (!('gone' in job) && job.runAt !== null && !context.io.tty)
        context.io.note(`the job is due at ${(await import('../../core/time.ts')).toIso(job.runAt)}`);
    }
    await noteStandstill(context, added);
    return 0;
  },
});

interface AddedJobs {
  jobs: (Job | GoneJob)[];
  /** True if the input was an array or a file, so that JSON output is an array. */
  many: boolean;
}

/**
 * Reads one job or an array of jobs, adds the flags to them, and stores them. Throws if there are more than `maxJobs`. `isBrief` is
 * true if the command ends soon afterwards.
 */
export async function addJobs(
  context: Context,
  input: Input,
  { maxJobs = Number.POSITIVE_INFINITY, isBrief = false } = {},
): Promise<AddedJobs> {
  const now = Date.now();
  const again = input.one('again');
  const { read, many } = again === undefined ? await readInput(input, now) : singleJob({});
  const filled = input.hasNoFlags
    ? read.inputs
    : await (await import('../job-flags.ts')).withJobFlags(context, read.inputs, input, now);
  if (filled.length > maxJobs)
    throw usageError(`only one job can be followed, but ${filled.length} were given`);
  for (const warning of read.warnings) context.io.warn(printable(warning));
  await warnOfSecrets(context.io, filled);
  const inputs = again === undefined ? filled : [await changedDefinition(context, again, filled[0]!)];
  const jobs = context.environment.QUEUECTL_HOOK_EVENT
    ? inputs.map((await import('../../core/hooks.ts')).withoutDefaultHooks)
    : inputs;
  // The directory is read before the store is opened, so that an error creates no store.
  const cwd = jobs.some((job) => job.cwd === undefined) ? context.cwd : '/';
  return { jobs: await enqueue(await context.app({ isBrief }), jobs, () => cwd), many };
}

/** Returns the definition of an existing job with the changes that the flags make. */
async function changedDefinition(context: Context, reference: string, changes: JobInput): Promise<JobInput> {
  const { definitionOf } = await import('../../actions/job-definition.ts');
  const { withChanges } = await import('../../core/job-input.ts');
  return withChanges(await definitionOf(await context.app(), reference), changes);
}

/** Returns the same jobs. Throws if one of them has been removed. */
export function existingJobs(jobs: (Job | GoneJob)[]): Job[] {
  return jobs.map((job) => {
    if (!('gone' in job)) return job;
    throw new QueueError(
      'job-not-found',
      `job '${job.id}', which was enqueued with this idempotency key, has been removed`,
    );
  });
}

/** Adds the jobs of a file. Returns them only if `waits` is true, because they may exceed the memory. */
async function addFile(context: Context, input: Input, waits: boolean): Promise<AddedJobs> {
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
  if (input.has('file'))
    throw usageError('--follow and --file cannot be combined, because only one job can be followed');
  const jobs = existingJobs((await addJobs(context, input, { maxJobs: 1 })).jobs);
  const { io } = context;
  if (!io.quiet && !io.json) io.err(`${await describe({ jobs, many: false })}\n`);
  const { followToEnd } = await import('../follow-job.ts');
  return followToEnd(context, jobs[0]!.id, timeoutMs);
}

async function waitForAdded(
  context: Context,
  added: AddedJobs,
  timeoutMs: number | null,
  printsAdded: boolean,
): Promise<number> {
  const { io } = context;
  const existing = existingJobs(added.jobs);
  // JSON output is one document with the finished jobs.
  if (printsAdded && !io.json) await printNew(context, added);
  const { describeJobEnd, waitForJobs } = await import('../wait-for-jobs.ts');
  const onEnd = (job: Job): void => io.note(describeJobEnd(job));
  return waitForJobs(context, existing, { timeoutMs, onEnd }, async (jobs) => {
    if (io.json) await print(context, { ...added, jobs });
  });
}

function printNew(context: Context, added: AddedJobs): Promise<void> {
  const ids = added.jobs.map((job) => job.id);
  return printAdded(ids, () => print(context, added));
}

async function print(context: Context, { jobs, many }: AddedJobs): Promise<void> {
  const { io } = context;
  if (io.json) {
    const app = await context.app();
    const { enqueuedJobObjects } = await import('../../actions/jobs.ts');
    const objects = await enqueuedJobObjects(app, jobs);
    const texts = objects.map((object) => jsonText(io, object));
    return io.out(many ? `[${texts.join(',')}]\n` : `${texts[0]}\n`);
  }
  if (io.tty && !io.quiet) io.out(`${await describe({ jobs, many })}\n`);
  else io.out(jobs.map((job) => `${job.id}\n`).join(''));
}

async function describe({ jobs }: AddedJobs): Promise<string> {
  const { describeAdded, describeMany } = await import('../describe-added.ts');
  if (jobs.length === 1) return describeAdded(jobs[0]!, Date.now());
  const ids = jobs.map((job) => job.id);
  return describeMany(
    ids,
    jobs.every((job) => job.existing),
  );
}

async function waitTimeout(input: Input): Promise<number | null> {
  if (!input.has('wait-timeout')) return null;
  return (await import('../read-flags.ts')).durationFlag(input, 'wait-timeout');
}

/** Throws if the command is given in no way or in several ways, or if --template is used without --file. */
export function checkGivenOnce(name: string, input: Input): void {
  if (input.has('template') && !input.has('file'))
    throw usageError(
      '--template requires --file',
      'add --file FILE, or --file - to read the lines from standard input',
    );
  if (input.has('stream') && !input.has('file'))
    throw usageError('--stream requires --file', 'add --file - to read the lines from standard input');
  const flags = ['command', 'file', 'again'].map((flag) => input.one(flag));
  const forms = [input.args[0], ...flags, input.rest ?? undefined].filter((form) => form !== undefined);
  if (forms.length > 1)
    throw usageError(
      'the command is given more than once',
      'use only one of these: an argument, --command, --file, --again, or arguments after --',
    );
  if (forms.length === 0)
    throw usageError(`${name} requires a command`, `for example: queuectl ${name} 'echo hello'`);
}

async function readInput(input: Input, now: number): Promise<{ read: ReadJobs; many: boolean }> {
  const [text] = input.args;
  if (input.rest !== null) {
    const { JOB_FIELDS } = await import('../../core/job-fields.ts');
    return singleJob({ argv: JOB_FIELDS.argv.read(input.rest, 'the command') });
  }
  if (text !== undefined && looksLikeJson(text)) {
    const { readJsonJobs } = await import('../../actions/read-jobs.ts');
    return { read: readJsonJobs(text, now), many: text.trimStart().startsWith('[') };
  }
  return singleJob(readCommand(text ?? input.one('command')!));
}

function singleJob(job: ReadJobs['inputs'][number]): { read: ReadJobs; many: boolean } {
  return { read: { inputs: [job], warnings: [] }, many: false };
}

async function noteStandstill({ io, app }: Context, { jobs }: AddedJobs): Promise<void> {
  // Only a terminal gets the notes, because the query would slow scripts down.
  if (!io.tty) return;
  const { whyQueuesStandStill } = await import('../../actions/why-queues-stand-still.ts');
  const stored = jobs.filter((job) => 'queue' in job);
  for (const problem of await whyQueuesStandStill(await app(), stored)) io.note(problem);
}
