import { listSchedules } from '../../actions/schedules.ts';
import { defineCommand } from '../command.ts';
import { listFlags } from '../layout-flags.ts';
import { printSchedules } from '../schedule-table.ts';

export default defineCommand({
  name: 'schedule list',
  summary: 'List schedules with their next runs',
  flags: listFlags('{name}\\t{next_run_at}'),
  prints: { object: 'Schedule' },
  examples: ['queuectl schedule list', 'queuectl schedule list --json=name,next_run_at'],
  async run({ io, app }) {
    const opened = await app();
    const schedules = await listSchedules(opened);
    await printSchedules(io, schedules, opened.clock.now());
    if (schedules.length === 0)
      io.note('no schedules yet. To learn how to create one: queuectl help schedule add');
  },
});
