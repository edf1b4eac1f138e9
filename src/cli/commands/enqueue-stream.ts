import { isUtf8 } from 'node:buffer';
import { closeSync, read } from 'node:fs';
import { type App, checkOpen } from '../../actions/app.ts';
import { enqueue } from '../../actions/jobs/enqueue.ts';
import { readJobLine } from '../../actions/jobs/parse-jobs.ts';
import { ERRORS, QueueError, usageError } from '../../core/errors.ts';
import type { JobInput } from '../../core/jobs/job-input.ts';
import { type CommandTemplate, compileTemplate } from '../../core/jobs/template.ts';
import { pause } from '../../core/time/clock.ts';
import type { Context, Input } from '../frame/command.ts';
import { BROKEN_PIPE_CODE, BrokenPipe, printError } from '../frame/io.ts';
import { createFiller, readResolvedJobFlags, withoutHooksInHook } from '../frame/job-flags.ts';
import { openFile, unreadableError } from '../frame/text-file.ts';
import { printable } from '../print/text.ts';
import { printNew, warnOfSecrets } from './enqueue.ts';

/** Flags that concern all jobs of a command, or only one job. Each line of a stream is an enqueue of its own. */
const REFUSED_FLAGS = ['id', 'idempotency-key', 'wait', 'wait-timeout', 'follow'];
/** The exit codes of errors in a line: usage, not found and conflict. Other errors concern the store and end the stream. */
const LINE_ERRORS = [2, 3, 4];
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
  const flags = await readResolvedJobFlags(context, input, Date.now());
  let hasWarned = false;
  const lines = arrivingLines(file);
  const watch = watchStore();
  let code = 0;
  for (;;) {
    const { value: line, done } = await Promise.race([lines.next(), watch.lost]);
    if (done) return code;
    try {
      const job = readLine(context, line, template, flags);
      if (job === null) continue;
      if (!hasWarned) hasWarned = await warnOfSecrets(context.io, [job]);
      const app = await context.app({ lasts: true });
      watch.start(app);
      const [added] = await enqueue(app, [job], () => cwd);
      await printNew(context, { jobs: [added!], many: false });
    } catch (error) {
      // Nobody reads the ids any more, so what follows could not be acknowledged.
      if (error instanceof BrokenPipe) return BROKEN_PIPE_CODE;
      if (!(error instanceof QueueError) || !LINE_ERRORS.includes(ERRORS[error.code].exit)) throw error;
      printError(context.io, withLine(error, line.line));
      code ||= ERRORS[error.code].exit;
    }
  }
}

/** Watches an open store while no line arrives. `lost` rejects once the store can no longer be used. */
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
  const job = readJobLine(text, line, template, Date.now());
  if (job === null) return null;
  for (const warning of job.warnings) io.warn(printable(warning));
  return withoutHooksInHook(createFiller(flags)(job.input, false), environment);
}

function withLine(error: QueueError, line: number): QueueError {
  const prefix = `line ${line}: `;
  if (error.message.startsWith(prefix)) return error;
  return new QueueError(error.code, prefix + error.message, error.hint ?? undefined);
}

/** A line without its line break, and its number. The text is null if the line is not UTF-8 or too long. */
interface ArrivingLine {
  text: string | null;
  line: number;
}

const CHUNK_BYTES = 64 * 1024;
const MAX_LINE_BYTES = 16 * 1024 ** 2;

/**
 * Yields the lines of a file, or of standard input for `-`, as soon as each of them is complete. Timers go on meanwhile, because
 * a process that has a store open must notice that its files were removed.
 */
async function* arrivingLines(file: string): AsyncGenerator<ArrivingLine> {
  const name = file === '-' ? 'standard input' : file;
  const fd = file === '-' ? 0 : openFile(name);
  try {
    let line = 1;
    let rest: Buffer = Buffer.alloc(0);
    for (;;) {
      const chunk = await readChunk(fd, name);
      if (chunk.length === 0) break;
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
        yield { text: toText(rest.subarray(0, end)), line: line++ };
        rest = rest.subarray(end + 1);
      }
      if (rest.length > MAX_LINE_BYTES)
        throw new QueueError('invalid-job', `line ${line}: the job is larger than 16 MiB`);
    }
    if (rest.length > 0) yield { text: toText(rest), line };
  } finally {
    if (fd !== 0) closeSync(fd);
  }
}

/** Returns the next bytes, or none at the end of the input. */
async function readChunk(fd: number, name: string): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (;;) {
    try {
      const bytes = await new Promise<number>((resolve, reject) => {
        read(fd, buffer, 0, buffer.length, null, (error, count) => (error ? reject(error) : resolve(count)));
      });
      return buffer.subarray(0, bytes);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EOF') return buffer.subarray(0, 0);
      // EAGAIN means that the input is a non-blocking pipe without data.
      if (code !== 'EAGAIN') throw unreadableError(name, error);
      await pause(5);
    }
  }
}

const toText = (bytes: Buffer): string | null => (isUtf8(bytes) ? bytes.toString() : null);
