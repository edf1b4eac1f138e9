import { actorOf } from '../../actions/actor.ts';
import { pauseSchedule } from '../../actions/schedules.ts';
import { defineCommand } from '../command.ts';
import { printScheduleChange } from '../schedule-table.ts';

export default defineCommand({
  name: 'schedule pause',
  summary: 'Pause a schedule',
  args: 'NAME',
  access: 'write',
  prints: { object: 'Schedule' },
  examples: ['queuectl schedule pause nightly'],
  async run({ io, app, environment }, input) {
    const name = input.required(0, 'the schedule name', 'to list the schedules: queuectl schedule list');
    const opened = await app();
    const by = actorOf(environment);
    await printScheduleChange(io, 'paused', await pauseSchedule(opened, name, by), opened.clock.now());
  },
});
