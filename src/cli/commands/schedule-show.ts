import { getSchedule } from '../../actions/schedules.ts';
import { defineCommand } from '../command.ts';
import { TIME_FLAGS } from '../layout-flags.ts';
import { printSchedule } from '../schedule-table.ts';

export default defineCommand({
  name: 'schedule show',
  summary: 'Show a schedule with its next five runs',
  args: 'NAME',
  flags: TIME_FLAGS,
  prints: { object: 'Schedule' },
  examples: ['queuectl schedule show nightly', 'queuectl schedule show nightly --json'],
  async run({ io, app }, input) {
    const name = input.required(0, 'the schedule name', 'to list the schedules: queuectl schedule list');
    const opened = await app();
    await printSchedule(io, await getSchedule(opened, name), opened.clock.now());
  },
});
