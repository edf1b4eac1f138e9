import { readLogs } from '../../actions/logs.ts';
import { findJob } from '../../actions/select.ts';
import { lastLines } from '../../core/last-lines.ts';
import { parseNumber } from '../../core/numbers.ts';
import { required } from '../arguments.ts';
import type { Command, Input } from '../command.ts';
import { followJob } from '../follow-job.ts';
import { detachable } from '../interrupt.ts';
import { outputPrinter } from '../output-printer.ts';

export default {
  name: 'logs',
  summary: 'Print what a job wrote',
  args: 'ID',
  most: 1,
  flags: {
    follow: { short: 'f', help: 'go on until the job is over; it need not have started' },
    lines: { value: 'N', short: 'n', help: 'only the last N lines of what is there' },
    attempt: { value: 'N', help: 'of this attempt (the last)' },
    raw: { help: 'to a terminal too exactly as written, escape sequences included' },
  },
  examples: [
    'queuectl logs job1',
    'queuectl logs -f job1',
    'queuectl logs -f -n 20 job1',
    'queuectl logs job1 --attempt 1',
  ],
  notes: ['Ctrl-C ends the following, not the job.'],
  async run(context, input) {
    const { io } = context;
    const name = required(input, 0, 'the id of a job', 'queuectl list');
    const ordinal = count(input, 'attempt', 1);
    const lines = count(input, 'lines', 0);
    const raw = input.has('raw');
    const app = await context.app();
    const id = await findJob(app, name);
    if (input.has('follow')) {
      return detachable(context, [id], async (signal) => {
        await followJob(context, id, { ordinal, lines, raw, signal, timeoutMs: null });
        return 0;
      });
    }
    const logs = await readLogs(app, id, ordinal);
    const pieces = lines === null ? logs.pieces : [lastLines(logs.pieces, lines)];
    if (io.json) {
      const text = Buffer.concat([...pieces]).toString('utf8');
      io.out(`${JSON.stringify({ id, attempt: logs.attempt?.ordinal ?? null, output: text })}\n`);
      return 0;
    }
    if (logs.attempt === null) io.note(`job '${id}' has not run yet; queuectl logs -f ${id} waits for it`);
    const printer = outputPrinter(io, raw);
    for (const piece of pieces) printer.print(piece);
    printer.end();
    return 0;
  },
} satisfies Command as Command;

function count(input: Input, flag: string, min: number): number | null {
  const text = input.one(flag);
  return text === undefined
    ? null
    : parseNumber(text, `--${flag}`, { min, max: 1_000_000_000, integer: true });
}
