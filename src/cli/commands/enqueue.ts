import { statSync } from 'node:fs';
import { enqueue, looksLikeJson, readCommand } from '../../actions/jobs/enqueue.ts';
import type { ParsedJobs } from '../../actions/jobs/parse-jobs.ts';
import { QueueError, usageError } from '../../core/errors.ts';
import type { GoneJob, Job } from '../../core/jobs/job.ts';
import type { JobInput } from '../../core/jobs/job-input.ts';
import { printable } from '../../core/text/printable.ts';
import { pathWord, shellWord } from '../../core/text/shell-quote.ts';
import { type Context, defineCommand, type Input } from '../frame/command.ts';
import type { Io } from '../frame/io.ts';
import { jsonText } from '../print/layout.ts';

export default defineCommand({
  name: 'enqueue',
  summary: 'Add one or more jobs',
  args: '(COMMAND | JSON | @FILE | -- PROGRAM ARG…)',
  maxArguments: 1,
  access: 'write',
  creates: true,
  details: async () => (await import('../frame/enqueue-details.ts')).enqueueDetails(),
  prints: { object: 'Job', fields: ['gone'] },
  returnsJobExitCode: waitsForJob,
  usageHint: (words, flags) => severalWordsHint('enqueue', words, flags),
  async run(context, given) {
    const input = withFileArgument(given);
    checkGivenOnce('enqueue', input);
    if (input.has('stream'))
      return (await import('./enqueue-stream.ts')).enqueueStream(context, input, input.one('file')!);
    const timeoutMs = input.has('wait-timeout')
      ? (await import('../frame/read-flags.ts')).durationFlag(input, 'wait-timeout')
      : null;
    if (input.has('follow')) return addAndFollow(context, input, timeoutMs);
    const waits = input.has('wait') || timeoutMs !== null;
    const added = input.has('file')
      ? await addFile(context, input, waits)
      : await addJobs(context, input, { isBrief: !waits });
    if (waits) return waitForAdded(context, added, timeoutMs, !input.has('file'));
    if (!input.has('file')) await printNew(context, added);
    for (const job of added.jobs.slice(0, 1)) {
      if (!('gone' in job) && job.runAt !== null && !context.io.tty)
        context.io.note(`the job is due at ${(await import('../../core/time/time.ts')).toIso(job.runAt)}`);
    }
    // Only a terminal gets the notes, because the query would slow scripts down.
    if (context.io.tty) await noteStandstill(context, added);
    return 0;
  },
});

function waitsForJob(args: string[]): boolean {
  for (const arg of args) if (arg.startsWith('-') && isWaitFlag(arg)) return true;
  return false;
}

const isWaitFlag = (arg: string): boolean => /^(-f|--follow|--wait(-timeout(=.*)?)?)$/.test(arg);

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
  const { read, many } = again === undefined ? await readInput(input, input.args[0], now) : singleJob({});
  let filled = read.inputs;
  if (!input.hasNoFlags) {
    const { fillFromFlags, readResolvedJobFlags } = await import('../frame/job-flags.ts');
    filled = fillFromFlags(read.inputs, await readResolvedJobFlags(context, input, now));
  }
  if (filled.length > maxJobs)
    throw usageError(`only one job can be followed, but ${filled.length} were given`);
  for (const warning of read.warnings) context.io.warn(printable(warning));
  await warnOfSecrets(context.io, filled);
  const inputs = again === undefined ? filled : [await changedDefinition(context, again, filled[0]!)];
  const jobs = context.environment.QUEUECTL_HOOK_EVENT
    ? inputs.map((await import('../../core/jobs/hooks.ts')).withoutDefaultHooks)
    : inputs;
  // The directory is read before the store is opened, so that an error creates no store.
  let cwd: string | null = null;
  for (const job of jobs) if (job.cwd === undefined) cwd ??= context.cwd;
  return { jobs: await enqueue(await context.app({ isBrief }), jobs, () => cwd ?? '/'), many };
}

/** Returns the definition of an existing job with the changes that the flags make. */
async function changedDefinition(context: Context, reference: string, changes: JobInput): Promise<JobInput> {
  const { definitionOf } = await import('../../actions/jobs/jobs.ts');
  const { withChanges } = await import('../../core/jobs/job-input.ts');
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
  const { enqueueFile } = await import('./enqueue-file.ts');
  const ids = await enqueueFile(context, input, input.one('file')!, !(waits && context.io.json));
  if (!waits) return { jobs: [], many: true };
  const { getJob } = await import('../../actions/jobs/jobs.ts');
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
  if (!io.quiet && !io.json) io.err(`${await describe(context, jobs)}\n`);
  const { followToEnd } = await import('../print/follow-job.ts');
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
  const { describeJobEnd, waitForJobs } = await import('../print/follow-job.ts');
  const onEnd = (job: Job): void => io.note(describeJobEnd(job));
  return waitForJobs(context, existing, { timeoutMs, onEnd }, async (jobs) => {
    if (io.json) await print(context, { ...added, jobs });
  });
}

export function printNew(context: Context, added: AddedJobs): Promise<void> {
  return printAdded(idsOf(added.jobs), print(context, added));
}

const idsOf = (jobs: (Job | GoneJob)[]): string[] => jobs.map(({ id }) => id);

async function print(context: Context, { jobs, many }: AddedJobs): Promise<void> {
  const { io } = context;
  if (io.json) {
    const app = await context.app();
    const { enqueuedJobObjects } = await import('../../actions/jobs/jobs.ts');
    const objects = await enqueuedJobObjects(app, jobs);
    const texts = objects.map((object) => jsonText(io, object));
    return io.out(many ? `[${texts.join(',')}]\n` : `${texts[0]}\n`);
  }
  if (io.tty && !io.quiet) io.out(`${await describe(context, jobs)}\n`);
  else io.out(`${idsOf(jobs).join('\n')}\n`);
}

async function describe({ app }: Context, jobs: AddedJobs['jobs']): Promise<string> {
  const { describeJobs } = await import('../print/job-table.ts');
  return describeJobs(jobs, (await app()).clock.now());
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
  let forms = input.args.length > 0 ? 1 : 0;
  for (const flag of ['command', 'file', 'again']) if (input.has(flag)) forms++;
  if (input.rest !== null) forms++;
  if (forms > 1)
    throw usageError(
      'the command is given more than once',
      'use only one of these: an argument, --command, --file, --again, or arguments after --',
    );
  if (forms === 0)
    throw usageError(`${name} requires a command`, `for example: queuectl ${shellWord(name)} 'echo hello'`);
}

/** Reads the jobs from one of: an argument (a command or JSON), --command, or the arguments after `--`. */
export async function readInput(
  input: Input,
  text: string | undefined,
  now: number,
): Promise<{ read: ParsedJobs; many: boolean }> {
  if (input.rest !== null) {
    const { JOB_FIELDS } = await import('../../core/jobs/job-fields.ts');
    return singleJob({ argv: JOB_FIELDS.argv.read(input.rest, 'the command') });
  }
  if (text !== undefined && looksLikeJson(text)) {
    const { readJsonJobs } = await import('../../actions/jobs/parse-jobs.ts');
    return { read: readJsonJobs(text, now), many: text.trimStart().startsWith('[') };
  }
  return singleJob(readCommand(text ?? input.one('command')!));
}

function singleJob(job: ParsedJobs['inputs'][number]): { read: ParsedJobs; many: boolean } {
  return { read: { inputs: [job], warnings: [] }, many: false };
}

async function noteStandstill({ io, app }: Context, { jobs }: AddedJobs): Promise<void> {
  const { whyQueuesStandStill } = await import('../../actions/jobs/waiting-reasons.ts');
  const stored = jobs.filter((job) => 'queue' in job);
  for (const problem of await whyQueuesStandStill(await app(), stored)) io.note(problem);
}

/** Returns the input with `@FILE` read as `--file FILE`. Throws if the name of a JSON file would be run as a command. */
export function withFileArgument(input: Input): Input {
  const [first] = input.args;
  if (first === undefined || input.args.length > 1) return input;
  if (first.includes('.')) refuseJsonFileAsCommand(first);
  if (!first.startsWith('@')) return input;
  const file = first.slice(1);
  if (file === '')
    throw usageError('the file name after @ is missing', 'for example: queuectl enqueue @jobs.json');
  if (input.has('file')) throw usageError('give the file only once: as an argument or with --file');
  return {
    ...input,
    args: [],
    has: (flag) => flag === 'file' || input.has(flag),
    one: (flag) => (flag === 'file' ? file : input.one(flag)),
  };
}

function refuseJsonFileAsCommand(name: string): void {
  if (!/^[^@\s]\S*\.(json|jsonl|ndjson)$/i.test(name)) return;
  const stat = statSync(name, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile() || (stat.mode & 0o111) !== 0) return;
  throw usageError(
    `${name} is a file of jobs, not a command`,
    `to enqueue the jobs in the file: queuectl enqueue --file ${pathWord(name)}`,
  );
}

/** Returns a hint for a command that was given as several arguments, and undefined for a single one. */
export function severalWordsHint(name: string, words: string[], flags: string[]): string | undefined {
  const [first, second] = words;
  // A program is one word and not a flag. Otherwise, what follows -- would not run.
  if (words.length < 2 || first!.startsWith('-') || /\s/.test(first!)) return undefined;
  const start = ['queuectl', name, ...flags.map(shellWord)].join(' ');
  // Other job queue programs take an id and a command, as in `add job1 'echo hello'`.
  if (words.length === 2 && /^[\w.-]+$/.test(first!) && /\s/.test(second!))
    return `to choose the id: ${start} --id ${shellWord(first!)} ${shellWord(second!)}`;
  return `put the command after --: ${start} -- ${words.map(shellWord).join(' ')}`;
}

/** Waits until the jobs were printed. If the output cannot be written, the error adds that they were added, so that nobody adds them twice. */
export async function printAdded(ids: string[], printing: Promise<void>): Promise<void> {
  try {
    await printing;
  } catch (error) {
    if (!(error instanceof QueueError) || error.code !== 'output-failed') throw error;
    const { countOf } = await import('../../core/text/words.ts');
    const added = ids.length === 1 ? `job ${ids[0]} was added` : `${countOf(ids.length)} were added`;
    throw new QueueError('output-failed', `${error.message}; ${added}`, 'to list the jobs: queuectl list');
  }
}

/**
 * Warns about the first job whose variables look like secrets, and tells whether there is one. Later jobs are mostly similar. Nothing
 * else is loaded for jobs without variables.
 */
export async function warnOfSecrets(io: Io, jobs: Pick<JobInput, 'env'>[]): Promise<boolean> {
  for (const { env } of jobs) {
    if (env === undefined) continue;
    const { secretWarning } = await import('../../core/text/mask.ts');
    const warning = secretWarning(env);
    if (warning === null) continue;
    io.warn(printable(warning));
    return true;
  }
  return false;
}
