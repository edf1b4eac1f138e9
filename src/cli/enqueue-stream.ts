import { type App, checkOpen } from '../actions/app.ts';
import { enqueue } from '../actions/enqueue.ts';
import { enqueuedJobObjects } from '../actions/jobs.ts';
import { readJobLine } from '../actions/read-job-file.ts';
import { errorTable, QueueError, usageError } from '../core/errors.ts';
import type { GoneJob, Job } from '../core/job.ts';
import type { JobInput } from '../core/job-input.ts';
import { secretWarnings } from '../core/secrets.ts';
import { type CommandTemplate, compileTemplate } from '../core/template.ts';
import { type ArrivingLine, arrivingLines } from './arriving-lines.ts';
import type { Context, Input } from './command.ts';
import { describeAdded } from './describe-added.ts';
import { BROKEN_PIPE_CODE, BrokenPipe } from './io.ts';
import { createFiller, readJobFlags, withoutHooksInHook, withResolvedParents } from './job-flags.ts';
import { jsonText } from './layout.ts';
import { printAdded } from './print-added.ts';
import { printError } from './print-error.ts';
import { printable } from './text.ts';

/** Flags that concern all jobs of a command, or only one job. Each line of a stream is an enqueue of its own. */
const REFUSED_FLAGS = ['id', 'idempotency-key', 'wait', 'wait-timeout', 'follow'];
/** The exit codes of errors in a line: usage, not found and conflict. Other errors concern the store and end the stream. */
const LINE_ERRORS = [2, 3, 4];
/** An open store is checked this often. */
const CHECK_INTERVAL_MS = 1000;

/**
 * Stores the job of each line as soon as the line arrives, and prints its id at once. Reports a bad line, adds nothing for it and
 * goes on. Returns the exit code of the first bad line, or 0.
 */
export async function enqueueStream(context: Context, input: Input, file: string): Promise<number> {
  const refused = REFUSED_FLAGS.find((flag) => input.has(flag));
  if (refused !== undefined) throw usageError(`--stream and --${refused} cannot be combined`);
  const template = input.has('template') ? compileTemplate(input.one('template')!) : null;
  // The directory is read before the store is opened, so that an error creates no store.
  const { cwd } = context;
  const flags = await withResolvedParents(context, readJobFlags(input, context, Date.now()));
  const warn = secretWarner(context);
  const lines = arrivingLines(file);
  const watch = watchStore();
  let code = 0;
  for (;;) {
    const { value: line, done } = await Promise.race([lines.next(), watch.lost]);
    if (done) return code;
    try {
      const job = readLine(context, line, template, flags);
      if (job === null) continue;
      warn(job);
      const app = await context.app();
      watch.start(app);
      const [added] = await enqueue(app, [job], () => cwd);
      await printAdded([added!.id], print(context, added!));
    } catch (error) {
      // Nobody reads the ids any more, so what follows could not be acknowledged.
      if (error instanceof BrokenPipe) return BROKEN_PIPE_CODE;
      if (!(error instanceof QueueError) || !LINE_ERRORS.includes(errorTable()[error.code].exit)) throw error;
      printError(context.io, withLine(error, line.line));
      code ||= errorTable()[error.code].exit;
    }
  }
}

/**
 * Watches an open store while no line arrives. `lost` rejects once the store can no longer be used. The process must end then,
 * because others do not open a store as long as a process has removed files of it open.
 */
function watchStore(): { lost: Promise<never>; start(app: App): void } {
  const { promise: lost, reject } = Promise.withResolvers<never>();
  // The rejection is handled by the race with the next line, which may not have begun yet.
  lost.catch(() => {});
  let isWatching = false;
  return {
    lost,
    start(app) {
      if (!isWatching) setInterval(() => checkOpen(app).catch(reject), CHECK_INTERVAL_MS).unref();
      isWatching = true;
    },
  };
}

/** Returns the job of a line with the values of the flags, or null if the line has no job. Warns about unknown fields. */
function readLine(
  { io, environment }: Context,
  { text, line }: ArrivingLine,
  template: CommandTemplate | null,
  flags: JobInput,
): JobInput | null {
  if (text === null) throw new QueueError('invalid-job', 'this is not valid UTF-8 text');
  const now = Date.now();
  const job = readJobLine(text, line, template, now);
  if (job === null) return null;
  for (const warning of job.warnings) io.warn(printable(warning));
  // A delay starts when the line arrives.
  const ownFlags = flags.delayMs === undefined ? flags : { ...flags, runAt: now + flags.delayMs };
  return withoutHooksInHook(createFiller(ownFlags)(job.input, false), environment);
}

/** Returns a function that warns about the first job that seems to contain a secret. Later jobs are mostly similar. */
function secretWarner({ io }: Context): (job: JobInput) => void {
  let hasWarned = false;
  return (job) => {
    if (hasWarned) return;
    for (const warning of secretWarnings(job)) {
      hasWarned = true;
      io.warn(printable(warning));
    }
  };
}

async function print({ io, app }: Context, job: Job | GoneJob): Promise<void> {
  if (io.json) {
    const [object] = await enqueuedJobObjects(await app(), [job]);
    io.out(`${jsonText(io, object!)}\n`);
  } else io.out(`${io.tty && !io.quiet ? describeAdded(job, Date.now()) : job.id}\n`);
}

/** Returns the error with the number of its line in front. */
function withLine(error: QueueError, line: number): QueueError {
  const prefix = `line ${line}: `;
  if (error.message.startsWith(prefix)) return error;
  return new QueueError(error.code, prefix + error.message, error.hint ?? undefined);
}
