import { resumeSchedule } from '../../actions/schedules.ts';
import { defineCommand } from '../command.ts';
import { printScheduleChange } from '../schedule-table.ts';

export default defineCommand({
  name: 'schedule resume',
  summary: 'Resume a paused schedule',
  args: 'NAME',
  access: 'write',
  prints: { object: 'Schedule' },
  examples: ['queuectl schedule resume nightly'],
  async run({ io, app }, input) {
    const name = input.required(0, 'the schedule name', 'to list the schedules: queuectl schedule list');
    const opened = await app();
    await printScheduleChange(io, 'resumed', await resumeSchedule(opened, name), opened.clock.now());
  },
});
