import { status } from '../../actions/status.ts';
import { STATES } from '../../core/job.ts';
import type { Command } from '../command.ts';
import { pad, paint, STATE_COLORS } from '../text.ts';
import { printWorkers } from '../worker-table.ts';

export default {
  name: 'status',
  summary: 'Count the jobs in every state and show the active workers',
  args: '',
  most: 0,
  flags: {},
  examples: ['queuectl status', 'queuectl status --json'],
  async run(context) {
    const { io } = context;
    const app = await context.app();
    const result = await status(app);
    if (io.json) {
      io.out(`${JSON.stringify(result)}\n`);
      return 0;
    }
    const width = Math.max(...Object.values(result.jobs).map((jobs) => String(jobs).length));
    for (const state of STATES) {
      const jobs = String(result.jobs[state]);
      if (!io.tty) io.out(`${state}\t${jobs}\n`);
      else
        io.out(
          `${io.color ? paint(pad(state, 10), STATE_COLORS[state]!) : pad(state, 10)}  ${jobs.padStart(width)}\n`,
        );
    }
    if (io.tty)
      io.out(
        `\n${result.workers.length === 0 ? 'no active workers' : `active workers: ${result.workers.length}`}\n`,
      );
    else io.out(`workers\t${result.workers.length}\n`);
    printWorkers(io, result.workers, app.clock.now());
    if (result.workers.length === 0 && result.jobs.pending > 0)
      io.note('start a worker with: queuectl worker start');
    return 0;
  },
} satisfies Command as Command;
