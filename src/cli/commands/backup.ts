import { backup } from '../../actions/backup.ts';
import { QueueError } from '../../core/errors.ts';
import { formatBytes } from '../../core/numbers.ts';
import type { Command } from '../command.ts';
import { printable } from '../text.ts';

export default {
  name: 'backup',
  summary: 'Write the queue, as of this moment, into a file; workers go on',
  args: 'FILE',
  most: 1,
  flags: {
    force: { help: 'replace FILE if it is there' },
    'with-output': { help: 'keep long output too, in FILE.d/' },
  },
  examples: ['queuectl backup queue-monday.db', 'queuectl backup --force --with-output /backup/queue.db'],
  notes: [
    'The backup is checked and on disk when this returns, and readable for you',
    'alone. It is a store itself: queuectl --db FILE list. Output up to 16 KiB is',
    'in it. Jobs that run at this moment count as lost in it, as after a crash.',
  ],
  async run({ io, app, location, environment }, input) {
    const [file] = input.args;
    if (file === undefined) throw new QueueError('usage', 'backup needs a file', 'queuectl backup FILE');
    if (file === '-')
      throw new QueueError(
        'usage',
        'a backup is a file, and goes to no stream',
        'queuectl backup FILE, or queuectl export',
      );
    const options = {
      force: input.has('force'),
      withOutput: input.has('with-output'),
      anyOwner: environment.QUEUECTL_ANY_OWNER === '1',
    };
    const made = await backup(await app({ create: false }), location, file, options);
    if (io.json) io.out(`${JSON.stringify(made)}\n`);
    else if (!io.tty || io.quiet) io.out(`${made.file}\n`);
    else io.out(`${printable(made.file)}: ${made.jobs} jobs, ${formatBytes(made.bytes)}\n`);
    if (made.outputs_left > 0)
      io.note(`${made.outputs_left} outputs longer than 16 KiB were left out; --with-output keeps them`);
    return 0;
  },
} satisfies Command as Command;
