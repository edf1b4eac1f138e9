import { listQueues } from '../../actions/queues.ts';
import { defineCommand } from '../command.ts';
import { listFlags } from '../layout-flags.ts';
import { printList } from '../print-list.ts';
import { QUEUE_LIST } from '../queue-table.ts';

export default defineCommand({
  name: 'queue list',
  summary: 'List queues with their job counts and limits',
  flags: listFlags('{name}\\t{paused}'),
  prints: { object: 'Queue' },
  examples: ['queuectl queue list', 'queuectl queue list --json=name,jobs'],
  usageHint: ([first = '']) =>
    first.startsWith('-') ? undefined : `to list the jobs of a queue: queuectl list --queue ${first}`,
  async run({ io, app }) {
    const opened = await app();
    const queues = await listQueues(opened);
    await printList(io, QUEUE_LIST, queues, opened.clock.now());
    if (queues.length === 0) io.note('no queues yet. The first job in a queue creates it');
  },
});
