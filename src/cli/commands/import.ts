import { importLines } from '../../actions/import.ts';
import { QueueError } from '../../core/errors.ts';
import type { Command } from '../command.ts';
import { openText } from '../job-file.ts';
import { startProgress } from '../progress.ts';

export default {
  name: 'import',
  summary: 'Add everything that export wrote, all or nothing',
  args: 'FILE',
  most: 1,
  flags: {
    'on-conflict': {
      value: 'fail|skip',
      help: 'what is here already under its id or name: refuse all, or skip it (fail)',
    },
  },
  examples: ['queuectl import queue.jsonl', 'gunzip <queue.jsonl.gz | queuectl import --on-conflict skip -'],
  notes: [
    'Into an empty queue or beside what is there: in one transaction, with all that',
    'belongs to a job. Jobs that were running when they were exported are pending',
    'again, one crash counted (jobs enqueued with --at-most-once: dead).',
  ],
  async run({ io, app }, input) {
    const [file] = input.args;
    if (file === undefined)
      throw new QueueError('usage', 'import needs a file, or -', 'queuectl import FILE');
    const onConflict = input.one('on-conflict') ?? 'fail';
    if (onConflict !== 'fail' && onConflict !== 'skip')
      throw new QueueError('invalid-value', `--on-conflict must be fail or skip, not '${onConflict}'`);
    const progress = startProgress(io);
    const text = openText(file, (bytes) => progress.at(() => `reading ${(bytes / 1e6).toFixed(1)} MB`));
    try {
      const { added, skipped } = await importLines(await app(), text.chunks, { onConflict });
      progress.end();
      if (io.json) io.out(`${JSON.stringify({ added, skipped })}\n`);
      else io.out(io.tty && !io.quiet ? `imported ${added.job ?? 0} jobs\n` : `${added.job ?? 0}\n`);
      if ((skipped.job ?? 0) > 0) io.note(`${skipped.job} jobs were here already, and were skipped`);
      if ((skipped.rollup_kind ?? 0) > 0)
        io.note('this queue has figures of its own: those of the file were not added to them');
      return 0;
    } finally {
      progress.end();
      text.close();
    }
  },
} satisfies Command as Command;
