import { restore } from '../../actions/restore.ts';
import { systemClock } from '../../core/clock.ts';
import { usageError } from '../../core/errors.ts';
import { countOf } from '../../core/words.ts';
import { defineCommand } from '../command.ts';
import { askToConfirm } from '../job-action-command.ts';
import { printResult } from '../print-result.ts';

export default defineCommand({
  name: 'restore',
  summary: 'Restore the queue from a backup',
  args: 'FILE',
  flags: {
    yes: { short: 'y', help: 'do not ask for confirmation before replacing a queue that is not empty' },
  },
  examples: ['queuectl restore queue-monday.db', 'queuectl restore --yes /backup/queue.db'],
  notes: [
    'Stop all workers first. queuectl verifies the backup and then replaces the queue with it in one step. The old database is kept in the same directory.',
    'Jobs that were running during the backup become pending again, and their crash count increases by one. At-most-once jobs become dead instead.',
  ],
  async run(context, input) {
    const { io, location, anyOwner } = context;
    const [file] = input.args;
    if (file === undefined)
      throw usageError('restore requires a backup file', 'usage: queuectl restore FILE');
    const confirm = (found: string): boolean =>
      input.has('yes') ||
      askToConfirm(context, `replace ${location} (${found})?`, `to confirm: queuectl restore --yes ${file}`);
    const runtime = { clock: systemClock, random: Math.random };
    const restored = await restore(runtime, location, file, anyOwner, confirm);
    if (restored === null) return 1;
    printResult(io, restored, `restored ${countOf(restored.jobs)}`, restored.jobs);
    if (restored.kept !== null) io.note(`the previous database was kept as ${restored.kept}`);
    return 0;
  },
});
