import { resumeQueue } from '../../actions/queues.ts';
import { defineCommand } from '../command.ts';
import { printQueue } from '../queue-table.ts';

export default defineCommand({
  name: 'queue resume',
  summary: 'Resume a paused queue',
  args: 'QUEUE',
  access: 'write',
  prints: { object: 'Queue' },
  examples: ['queuectl queue resume mail'],
  async run({ io, app }, input) {
    const name = input.required(0, 'the queue name', 'to list the queues: queuectl queue list');
    printQueue(io, await resumeQueue(await app(), name));
  },
});
