import { actorOf } from '../../actions/actor.ts';
import { pauseQueues } from '../../actions/queues.ts';
import { defineCommand } from '../command.ts';
import { ALL_QUEUES_FLAG, printChangedQueues, queueOrAll } from '../queue-table.ts';

export default defineCommand({
  name: 'queue pause',
  summary: 'Pause a queue; running jobs continue',
  args: 'QUEUE|--all',
  access: 'write',
  flags: ALL_QUEUES_FLAG,
  prints: { object: 'Queue' },
  examples: ['queuectl queue pause mail', 'queuectl queue pause --all'],
  async run({ io, app, environment }, input) {
    const name = queueOrAll(input);
    await printChangedQueues(io, name, await pauseQueues(await app(), name, actorOf(environment)));
  },
});
