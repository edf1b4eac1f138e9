import { editSchedule } from '../../actions/schedules.ts';
import { defineCommand } from '../command.ts';
import { withoutDefaults } from '../job-flags.ts';
import { readScheduleChanges, SCHEDULE_FLAGS } from '../schedule-flags.ts';
import { printScheduleChange } from '../schedule-table.ts';

export default defineCommand({
  name: 'schedule edit',
  summary: 'Change a schedule or its job',
  args: 'NAME [COMMAND | -- PROGRAM ARG…]',
  access: 'write',
  flags: withoutDefaults(SCHEDULE_FLAGS),
  examples: [
    "queuectl schedule edit nightly --cron '0 3 * * *'",
    "queuectl schedule edit nightly --tz Asia/Tokyo --overlap queue 'make backup'",
  ],
  notes: [
    'Values that you do not specify stay unchanged, but --tag and --env replace all earlier tags and variables. Jobs that are already enqueued are not affected.',
  ],
  async run(context, input) {
    const { name, ...changes } = readScheduleChanges(input, context, Date.now());
    const app = await context.app();
    await printScheduleChange(context.io, 'edited', await editSchedule(app, name, changes), app.clock.now());
  },
});
