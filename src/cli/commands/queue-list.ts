import { listQueues } from '../../actions/queues.ts';
import type { Command } from '../command.ts';
import { LIST_FLAGS } from '../layout.ts';
import { printList } from '../print-list.ts';
import { queueListing } from '../queue-table.ts';

export default {
  name: 'queue list',
  summary: 'List the queues with their jobs, limits and pauses',
  args: '',
  most: 0,
  flags: LIST_FLAGS,
  prints: { object: 'Queue' },
  examples: ['queuectl queue list', 'queuectl queue list --json=name,jobs'],
  async run({ io, app }) {
    const opened = await app();
    const queues = await listQueues(opened);
    await printList(io, queueListing(io, opened.clock.now()), queues);
    if (queues.length === 0) io.note('there is no queue yet; the first job makes one');
    return 0;
  },
} satisfies Command as Command;
