import { listWorkers } from '../../actions/workers.ts';
import type { Command } from '../command.ts';
import { printWorkers } from '../worker-table.ts';

export default {
  name: 'worker list',
  summary: 'List the active workers',
  args: '',
  most: 0,
  flags: {},
  examples: ['queuectl worker list', 'queuectl worker list --json'],
  async run(context) {
    const { io } = context;
    const app = await context.app();
    const workers = await listWorkers(app);
    if (io.json) io.out(`${JSON.stringify(workers)}\n`);
    else if (io.quiet) io.out(workers.map((worker) => `${worker.id}\n`).join(''));
    else printWorkers(io, workers, app.clock.now());
    if (workers.length === 0) io.note('no active workers; start one with: queuectl worker start');
    return 0;
  },
} satisfies Command as Command;
