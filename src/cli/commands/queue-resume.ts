import { resumeQueues } from '../../actions/queues.ts';
import { defineCommand } from '../command.ts';
import { ALL_QUEUES_FLAG, printChangedQueues, queueOrAll } from '../queue-table.ts';

export default defineCommand({
  name: 'queue resume',
  summary: 'Resume a paused queue',
  args: 'QUEUE|--all',
  access: 'write',
  flags: ALL_QUEUES_FLAG,
  prints: { object: 'Queue' },
  examples: ['queuectl queue resume mail', 'queuectl queue resume --all'],
  async run({ io, app }, input) {
    const name = queueOrAll(input);
    await printChangedQueues(io, name, await resumeQueues(await app(), name));
  },
});
