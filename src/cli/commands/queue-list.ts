import { listQueues } from '../../actions/queues.ts';
import type { Command } from '../command.ts';
import { printQueues } from '../queue-table.ts';

export default {
  name: 'queue list',
  summary: 'List the queues with their jobs, limits and pauses',
  args: '',
  most: 0,
  flags: {},
  examples: ['queuectl queue list', 'queuectl queue list --json'],
  async run({ io, app }) {
    const queues = await listQueues(await app());
    if (io.json) io.out(`${JSON.stringify(queues)}\n`);
    else printQueues(io, queues);
    if (queues.length === 0) io.note('there is no queue yet; the first job makes one');
    return 0;
  },
} satisfies Command as Command;
