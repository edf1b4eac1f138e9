import type { App } from '../../actions/app.ts';
import { getJob, selectJobs } from '../../actions/jobs/jobs.ts';
import { outputPaths, readLogs } from '../../actions/output/logs.ts';
import { usageError } from '../../core/errors.ts';
import { FINAL_STATES, type Stream } from '../../core/jobs/job.ts';
import { lastLines } from '../../core/text/last-lines.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { pause } from '../../core/time/clock.ts';
import { type Context, defineCommand, type Input } from '../frame/command.ts';
import { noteJobsContinue, untilInterrupted } from '../frame/interrupt.ts';
import type { Io } from '../frame/io.ts';
import { numberFlag } from '../frame/read-flags.ts';
import { describeNeverRan, type FollowJobOptions, followJob } from '../print/follow-job.ts';
import { printJson } from '../print/layout.ts';
import { type OutputPrinter, outputPrinter } from '../print/output-printer.ts';
import { printable } from '../print/text.ts';

export default defineCommand({
  name: 'logs',
  summary: 'Print the output of jobs',
  args: 'ID…',
  flags: {
    follow: { short: 'f', help: 'wait for the job to start, and print its output until it finishes' },
    lines: { value: 'N', short: 'n', help: 'print the last N lines instead of the whole output' },
    attempt: { value: 'N', help: 'print the output of this attempt (default: the last one)' },
    stdout: { help: 'print only stdout, for jobs enqueued with --split-output' },
    stderr: { help: 'print only stderr, for jobs enqueued with --split-output' },
    path: { help: 'print the path of the file that holds the output instead of the output' },
    raw: { help: 'do not escape control characters on a terminal' },
  },
  examples: [
    'queuectl logs job1',
    'queuectl logs -f job1',
    'queuectl logs -f -n 20 job1',
    'queuectl logs job1 --attempt 1',
    'queuectl logs job1 --stderr',
    'queuectl logs job1 job2',
    'less +F "$(queuectl logs --path job1)"',
  ],
  notes: [
    'The output of several jobs is printed one after the other, each with a heading. Only one job can be followed.',
    'The output of a running job is in a file. After the attempt, only output longer than 16 KiB stays in its file. Shorter output moves into the database, and --path is an error.',
    'With PostgreSQL, the output of a job on another host is read from the database, which has only the beginning and the end of long output (setting shared-output).',
    'On a terminal, colors and carriage returns in the output take effect, and other control characters are escaped. In a pipe, the output is unchanged.',
    'With -f, Ctrl-C stops queuectl but not the job.',
    'For a job enqueued with --split-output, stdout is printed first, and then stderr. With -f, both streams are printed as they arrive, each to the stream of the same name. -n applies to each stream.',
  ],
  async run(context, input) {
    input.required(0, 'the job id', 'to list the jobs: queuectl list');
    const wanted: Wanted = {
      ordinal: numberFlag(input, 'attempt', { min: 1, max: MAX_NUMBER, integer: true }),
      lines: numberFlag(input, 'lines', { min: 0, max: MAX_NUMBER, integer: true }),
      only: readStream(input),
      raw: input.has('raw'),
    };
    const app = await context.app();
    const ids = await selectJobs(app, { references: input.args });
    if (input.has('path')) return printPaths(context.io, app, ids, wanted);
    if (input.has('follow')) return follow(context, ids, wanted);
    if (context.io.json) {
      const objects = [];
      for (const id of ids) objects.push(await logsObject(app, id, wanted));
      printJson(context.io, ids.length > 1 ? objects : objects[0]!);
      return 0;
    }
    const printAll = async (signal?: AbortSignal): Promise<void> => {
      for (const [i, id] of ids.entries()) {
        if (ids.length > 1) context.io.out(`${i === 0 ? '' : '\n'}==> ${printable(id)} <==\n`);
        await printLogs(context.io, app, id, wanted, signal);
      }
    };
    // On a terminal, Ctrl-C must not leave the colors of the job on.
    if (context.io.tty && !wanted.raw) return untilInterrupted(printAll);
    await printAll();
    return 0;
  },
});

type Wanted = Pick<FollowJobOptions, 'ordinal' | 'lines' | 'only' | 'raw'>;

function follow(context: Context, ids: string[], wanted: Wanted): Promise<number> {
  const [id, another] = ids;
  if (another !== undefined)
    throw usageError(
      `only one job can be followed, but ${ids.length} were given`,
      `to follow the first one: queuectl logs -f ${shellWord(id!)}`,
    );
  return untilInterrupted(
    (signal) => followJob(context, id!, { ...wanted, signal, timeoutMs: null }),
    () => noteJobsContinue(context, [id!]),
  );
}

async function printPaths(io: Io, app: App, ids: string[], { ordinal, only }: Wanted): Promise<number> {
  const objects: object[] = [];
  const lines: string[] = [];
  for (const id of ids) {
    const { ordinal: attempt, paths } = await outputPaths(app, id, ordinal, only);
    const named = paths.map(({ stream, path }) => [paths.length > 1 ? `${stream}_path` : 'path', path]);
    objects.push({ id, attempt, ...Object.fromEntries(named) });
    lines.push(...paths.map(({ path }) => `${io.tty ? printable(path) : path}\n`));
  }
  io.out(io.json ? `${JSON.stringify(ids.length > 1 ? objects : objects[0])}\n` : lines.join(''));
  return 0;
}

async function readStreams(app: App, id: string, { ordinal, lines, only }: Wanted) {
  const logs = await readLogs(app, id, ordinal, only);
  const streams = logs.streams.map(({ stream, pieces }) => ({
    stream,
    pieces: lines === null ? pieces : [lastLines(pieces, lines)],
  }));
  return { attempt: logs.attempt, streams };
}

async function logsObject(app: App, id: string, wanted: Wanted): Promise<object> {
  const { attempt, streams } = await readStreams(app, id, wanted);
  const texts = streams.map(({ stream, pieces }) => [stream, Buffer.concat([...pieces]).toString()]);
  const output = texts.map(([, text]) => text).join('');
  const byStream = texts.length > 1 ? Object.fromEntries(texts) : {};
  return { id, attempt: attempt?.ordinal ?? null, output, ...byStream };
}

async function printLogs(io: Io, app: App, id: string, wanted: Wanted, signal?: AbortSignal): Promise<void> {
  const { raw } = wanted;
  const { attempt, streams } = await readStreams(app, id, wanted);
  if (attempt === null) {
    const job = await getJob(app, id);
    const notStarted = `job '${id}' has not started yet. To wait for it: queuectl logs -f ${shellWord(id)}`;
    io.note(FINAL_STATES.includes(job.state) ? describeNeverRan(job) : notStarted);
  }
  let inLine = false;
  for (const { stream, pieces } of streams) {
    // The second stream starts on a new line.
    if (inLine) io.out('\n');
    if (io.tty && streams.length > 1) io.out(`--- ${stream} ---\n`);
    const printer = outputPrinter(io, raw);
    for (const piece of pieces) {
      printer.print(piece);
      if (signal !== undefined) await checkInterrupted(signal, printer);
      if (piece.length > 0) inLine = piece.at(-1) !== NEWLINE && (raw || !io.tty);
    }
    printer.end();
  }
}

/** Handles signals between two pieces. After Ctrl-C or SIGTERM, turns off the colors and throws. */
async function checkInterrupted(signal: AbortSignal, printer: OutputPrinter): Promise<void> {
  await pause(0);
  if (!signal.aborted) return;
  printer.reset();
  signal.throwIfAborted();
}

const NEWLINE = 10;
const MAX_NUMBER = 1_000_000_000;

function readStream(input: Input): Stream | null {
  const [only = null, another] = (['stdout', 'stderr'] as const).filter((stream) => input.has(stream));
  if (another !== undefined)
    throw usageError('--stdout and --stderr cannot be combined. To print both, use neither');
  return only;
}
