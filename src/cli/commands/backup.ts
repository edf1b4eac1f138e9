import { backup } from '../../actions/backup.ts';
import { usageError } from '../../core/errors.ts';
import { formatBytes } from '../../core/numbers.ts';
import { countOf } from '../../core/words.ts';
import { defineCommand } from '../command.ts';
import { printResult } from '../print-result.ts';
import { printable } from '../text.ts';

export default defineCommand({
  name: 'backup',
  summary: 'Back up the queue to a file while workers keep running',
  args: 'FILE',
  flags: {
    force: { help: 'overwrite FILE if it exists' },
    'with-output': { help: 'also back up job output longer than 16 KiB, to the directory FILE.d' },
  },
  examples: ['queuectl backup queue-monday.db', 'queuectl backup --force --with-output /backup/queue.db'],
  notes: [
    'The backup is a consistent snapshot of the queue. When the command returns, the backup has been verified and written to disk. Only you can read the file.',
    "A backup is a database that you can use directly, for example with 'queuectl --db FILE list'. Without --with-output, it does not contain the output of attempts that printed more than 16 KiB.",
    'If you restore the backup, jobs that were running during the backup become pending again. Their attempts are treated as lost in a crash.',
  ],
  async run({ io, app, location, anyOwner }, input) {
    const [file] = input.args;
    if (file === undefined) throw usageError('backup requires a file', 'usage: queuectl backup FILE');
    if (file === '-')
      throw usageError(
        'a backup cannot be written to standard output',
        'to back up to a file: queuectl backup FILE. To write to standard output: queuectl export',
      );
    const options = { force: input.has('force'), withOutput: input.has('with-output'), anyOwner };
    const made = await backup(await app({ ifMissing: 'refuse' }), location, file, options);
    const sentence = `${printable(made.file)}: ${countOf(made.jobs)}, ${formatBytes(made.bytes)}`;
    printResult(io, made, sentence, made.file);
    if (made.outputs_left > 0)
      io.note(
        `the backup does not include ${countOf(made.outputs_left, 'output file')} longer than 16 KiB. Use --with-output to include all output`,
      );
  },
});
