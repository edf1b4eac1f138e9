import { resumeQueue } from '../../actions/queues.ts';
import { required } from '../arguments.ts';
import { defineCommand } from '../command.ts';
import { printQueue } from '../queue-table.ts';

export default defineCommand({
  name: 'queue resume',
  summary: 'Resume a paused queue',
  args: 'QUEUE',
  most: 1,
  access: 'write',
  flags: {},
  prints: { object: 'Queue' },
  examples: ['queuectl queue resume mail'],
  async run({ io, app }, input) {
    const name = required(input, 0, 'the queue name', 'to list the queues: queuectl queue list');
    printQueue(io, await resumeQueue(await app(), name));
    return 0;
  },
});
