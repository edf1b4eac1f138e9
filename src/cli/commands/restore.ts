import { restore } from '../../actions/restore.ts';
import { systemClock } from '../../core/clock.ts';
import { QueueError } from '../../core/errors.ts';
import { confirmed } from '../act.ts';
import type { Command } from '../command.ts';

export default {
  name: 'restore',
  summary: 'Put a backup in the place of the queue; what was there is kept aside',
  args: 'FILE',
  most: 1,
  flags: { yes: { short: 'y', help: 'also in the place of a queue that holds something' } },
  examples: ['queuectl restore queue-monday.db', 'queuectl restore --yes /backup/queue.db'],
  notes: [
    'Needs all workers stopped. The backup is checked in a copy first, and takes its',
    'place in one step. Jobs that were running in it are pending again, one crash',
    'counted (jobs enqueued with --at-most-once: dead).',
  ],
  async run(context, input) {
    const { io, location } = context;
    const [file] = input.args;
    if (file === undefined) throw new QueueError('usage', 'restore needs a file', 'queuectl restore FILE');
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
    else io.out(`restored ${restored.jobs} jobs\n`);
    if (restored.kept !== null) io.note(`what was there before is ${restored.kept}`);
    return 0;
  },
} satisfies Command as Command;
