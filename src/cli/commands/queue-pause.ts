import { actorOf } from '../../actions/actor.ts';
import { changeQueue } from '../../actions/queues.ts';
import { defineCommand } from '../command.ts';
import { noteNewQueue, printQueue } from '../queue-table.ts';

export default defineCommand({
  name: 'queue pause',
  summary: 'Pause a queue; running jobs continue',
  args: 'QUEUE',
  access: 'write',
  prints: { object: 'Queue' },
  examples: ['queuectl queue pause mail'],
  async run({ io, app, environment }, input) {
    const name = input.required(0, 'the queue name', 'to list the queues: queuectl queue list');
    const opened = await app();
    const by = actorOf(environment);
    await noteNewQueue(io, opened, name);
    printQueue(io, await changeQueue(opened, name, { paused: { at: opened.clock.now(), by } }));
  },
});
