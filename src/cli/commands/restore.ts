import { restore } from '../../actions/restore.ts';
import { systemClock } from '../../core/clock.ts';
import { QueueError } from '../../core/errors.ts';
import { countOf } from '../../core/words.ts';
import { confirmed } from '../act.ts';
import { defineCommand } from '../command.ts';

export default defineCommand({
  name: 'restore',
  summary: 'Restore the queue from a backup',
  args: 'FILE',
  most: 1,
  flags: {
    yes: { short: 'y', help: 'do not ask for confirmation before replacing a queue that is not empty' },
  },
  examples: ['queuectl restore queue-monday.db', 'queuectl restore --yes /backup/queue.db'],
  notes: [
    'Stop all workers first. queuectl verifies the backup and then replaces the queue with it in one step. The old database is kept in the same directory.',
    'Jobs that were running during the backup become pending again, and their crash count increases by one. At-most-once jobs become dead instead.',
  ],
  async run(context, input) {
    const { io, location } = context;
    const [file] = input.args;
    if (file === undefined) throw new QueueError('usage', 'restore requires a file', 'queuectl restore FILE');
    const sure = (held: string): boolean =>
      input.has('yes') ||
      confirmed(context, `replace ${held} in ${location}?`, `queuectl restore --yes ${file}`);
    const anyOwner = context.environment.QUEUECTL_ANY_OWNER === '1';
    const restored = await restore(
      { clock: systemClock, random: Math.random },
      location,
      file,
      anyOwner,
      sure,
    );
    if (restored === null) return 1;
    if (io.json) io.out(`${JSON.stringify(restored)}\n`);
    else if (!io.tty || io.quiet) io.out(`${restored.jobs}\n`);
    else io.out(`restored ${countOf(restored.jobs)}\n`);
    if (restored.kept !== null) io.note(`the previous database was kept as ${restored.kept}`);
    return 0;
  },
});
