import { deleteQueue } from '../../actions/queues.ts';
import { defineCommand } from '../command.ts';
import { printResult } from '../print-result.ts';

export default defineCommand({
  name: 'queue delete',
  summary: 'Delete an empty queue and its limits',
  args: 'QUEUE',
  access: 'write',
  examples: ['queuectl queue delete mail'],
  async run({ io, app }, input) {
    const name = input.required(0, 'the queue name', 'to list the queues: queuectl queue list');
    await deleteQueue(await app(), name);
    printResult(io, { deleted: [name] }, `deleted queue ${name}`, name);
  },
});
