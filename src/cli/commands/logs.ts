import { readLogs } from '../../actions/logs.ts';
import { findJob } from '../../actions/select.ts';
import { parseNumber } from '../../core/numbers.ts';
import { required } from '../arguments.ts';
import type { Command } from '../command.ts';
import { printable } from '../text.ts';

export default {
  name: 'logs',
  summary: 'Print what a job wrote',
  args: 'ID',
  most: 1,
  flags: {
    attempt: { value: 'N', help: 'of this attempt (the last)' },
    raw: { help: 'to a terminal too exactly as written, escape sequences included' },
  },
  examples: ['queuectl logs job1', 'queuectl logs job1 --attempt 1'],
  async run(context, input) {
    const { io } = context;
    const name = required(input, 0, 'the id of a job', 'queuectl list');
    const number = input.one('attempt');
    const ordinal =
      number === undefined
        ? null
        : parseNumber(number, '--attempt', { min: 1, max: 1_000_000, integer: true });
    const app = await context.app();
    const id = await findJob(app, name);
    const logs = await readLogs(app, id, ordinal);
    if (io.json) {
      const text = Buffer.concat([...logs.pieces]).toString('utf8');
      io.out(`${JSON.stringify({ id, attempt: logs.attempt?.ordinal ?? null, output: text })}\n`);
      return 0;
    }
    if (logs.attempt === null) io.note(`job '${id}' has not run yet`);
    const decoder = new TextDecoder();
    for (const piece of logs.pieces) {
      if (io.tty && !input.has('raw')) io.out(safe(decoder.decode(piece, { stream: true })));
      else io.bytes(piece);
    }
    return 0;
  },
} satisfies Command as Command;

/** Lines and tabs as they are; every other control character is shown, not obeyed. */
function safe(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => line.split('\t').map(printable).join('\t'))
    .join('\n');
}
