import { getJob } from '../../actions/jobs.ts';
import { readLogs } from '../../actions/logs.ts';
import { findJob } from '../../actions/select.ts';
import { QueueError } from '../../core/errors.ts';
import { FINAL_STATES, type Stream } from '../../core/job.ts';
import { lastLines } from '../../core/last-lines.ts';
import { parseNumber } from '../../core/numbers.ts';
import { required } from '../arguments.ts';
import { defineCommand, type Input } from '../command.ts';
import { describeNeverRan, followJob } from '../follow-job.ts';
import { detachable } from '../interrupt.ts';
import { outputPrinter } from '../output-printer.ts';

export default defineCommand({
  name: 'logs',
  summary: 'Print the output of a job',
  args: 'ID',
  most: 1,
  flags: {
    follow: { short: 'f', help: 'wait for the job to start, and print its output until it finishes' },
    lines: { value: 'N', short: 'n', help: 'print the last N lines instead of the whole output' },
    attempt: { value: 'N', help: 'print the output of this attempt (default: the last one)' },
    stdout: { help: 'print only stdout, for jobs enqueued with --split-output' },
    stderr: { help: 'print only stderr, for jobs enqueued with --split-output' },
    raw: { help: 'do not escape control characters on a terminal' },
  },
  examples: [
    'queuectl logs job1',
    'queuectl logs -f job1',
    'queuectl logs -f -n 20 job1',
    'queuectl logs job1 --attempt 1',
    'queuectl logs job1 --stderr',
  ],
  notes: [
    'With -f, Ctrl-C stops queuectl but not the job.',
    'For a job enqueued with --split-output, stdout is printed first, and then stderr. With -f, both streams are printed as they arrive, to stdout and stderr of queuectl. -n applies to each stream.',
  ],
  async run(context, input) {
    const { io } = context;
    const name = required(input, 0, 'the job id', 'queuectl list');
    const ordinal = readCount(input, 'attempt', 1);
    const lines = readCount(input, 'lines', 0);
    const raw = input.has('raw');
    const only = readStream(input);
    const app = await context.app();
    const id = await findJob(app, name);
    if (input.has('follow')) {
      return detachable(context, [id], async (signal) => {
        await followJob(context, id, { ordinal, lines, only, raw, signal, timeoutMs: null });
        return 0;
      });
    }
    const logs = await readLogs(app, id, ordinal, only);
    const streams = logs.streams.map(({ stream, pieces }) => ({
      stream,
      pieces: lines === null ? pieces : [lastLines(pieces, lines)],
    }));
    if (io.json) {
      const texts = streams.map(({ stream, pieces }) => [stream, Buffer.concat([...pieces]).toString()]);
      const output = texts.map(([, text]) => text).join('');
      const apart = texts.length > 1 ? Object.fromEntries(texts) : {};
      io.out(`${JSON.stringify({ id, attempt: logs.attempt?.ordinal ?? null, output, ...apart })}\n`);
      return 0;
    }
    if (logs.attempt === null) {
      const job = await getJob(app, id);
      const waits = `job '${id}' has not started yet. To wait for it: queuectl logs -f ${id}`;
      io.note(FINAL_STATES.includes(job.state) ? describeNeverRan(job) : waits);
    }
    let inLine = false;
    for (const { stream, pieces } of streams) {
      // The second stream starts on a new line.
      if (inLine) io.out('\n');
      if (io.tty && streams.length > 1) io.out(`--- ${stream} ---\n`);
      const printer = outputPrinter(io, raw);
      for (const piece of pieces) {
        printer.print(piece);
        if (piece.length > 0) inLine = piece.at(-1) !== NEWLINE && (raw || !io.tty);
      }
      printer.end();
    }
    return 0;
  },
});

const NEWLINE = 10;

function readStream(input: Input): Stream | null {
  const [only = null, another] = (['stdout', 'stderr'] as const).filter((stream) => input.has(stream));
  if (another !== undefined)
    throw new QueueError(
      'usage',
      'use --stdout or --stderr, not both. Without them, both streams are printed',
    );
  return only;
}

function readCount(input: Input, flag: string, min: number): number | null {
  const text = input.one(flag);
  return text === undefined
    ? null
    : parseNumber(text, `--${flag}`, { min, max: 1_000_000_000, integer: true });
}
