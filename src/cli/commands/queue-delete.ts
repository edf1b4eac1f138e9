import { deleteQueue } from '../../actions/queues.ts';
import { required } from '../arguments.ts';
import { defineCommand } from '../command.ts';

export default defineCommand({
  name: 'queue delete',
  summary: 'Delete an empty queue and its limits',
  args: 'QUEUE',
  most: 1,
  access: 'write',
  flags: {},
  examples: ['queuectl queue delete mail'],
  async run({ io, app }, input) {
    const name = required(input, 0, 'the queue name', 'to list the queues: queuectl queue list');
    await deleteQueue(await app(), name);
    if (io.json) io.out(`${JSON.stringify({ deleted: [name] })}\n`);
    else io.out(io.tty && !io.quiet ? `deleted queue ${name}\n` : `${name}\n`);
    return 0;
  },
});
