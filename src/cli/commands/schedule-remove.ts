import { removeSchedule } from '../../actions/schedules.ts';
import { required } from '../arguments.ts';
import { defineCommand } from '../command.ts';
import { printScheduleChange } from '../schedule-table.ts';

export default defineCommand({
  name: 'schedule remove',
  summary: 'Remove a schedule but keep the jobs it enqueued',
  args: 'NAME',
  most: 1,
  access: 'write',
  flags: {},
  prints: { object: 'Schedule' },
  examples: ['queuectl schedule remove nightly'],
  async run({ io, app }, input) {
    const name = required(input, 0, 'the schedule name', 'queuectl schedule list');
    const opened = await app();
    await printScheduleChange(io, 'removed', await removeSchedule(opened, name), opened.clock.now());
    return 0;
  },
});
