import { previewSchedule } from '../../actions/schedule-object.ts';
import { addSchedule, checkSchedule } from '../../actions/schedules.ts';
import { defineCommand } from '../command.ts';
import { readScheduleSpec, SCHEDULE_FLAGS } from '../schedule-flags.ts';
import { printNextRuns, printScheduleChange } from '../schedule-table.ts';
import { warnOfSecrets } from '../warn-of-secrets.ts';

export default defineCommand({
  name: 'schedule add',
  summary: 'Create a schedule (cron expression or fixed interval)',
  args: 'NAME (COMMAND | -- PROGRAM ARG…)',
  access: 'write',
  creates: true,
  flags: {
    ...SCHEDULE_FLAGS,
    'dry-run': { group: 'Schedule', help: 'show the next runs without creating the schedule' },
  },
  prints: { object: 'Schedule' },
  examples: [
    '# Run every night at 02:30, Tokyo time',
    "queuectl schedule add nightly --cron '30 2 * * *' --tz Asia/Tokyo './backup'",
    '# Run every 90 seconds',
    'queuectl schedule add ping --every 90s -- curl -fsS https://example.org',
    '# Run on weekdays, and make up for all missed runs',
    "queuectl schedule add report --cron '0 9 * * mon-fri' --catch-up all ./report",
    '# Show the next runs without creating the schedule',
    "queuectl schedule add x --cron '0 0 29 2 *' --dry-run ./backup",
  ],
  notes: [
    'Workers enqueue the jobs of a schedule, so a worker must be running. Each job can read its scheduled time from the environment variable QUEUECTL_SCHEDULED_AT.',
    "See 'queuectl help cron' for the syntax of cron expressions and the effect of daylight saving time.",
  ],
  async run(context, input) {
    const now = Date.now();
    const spec = readScheduleSpec(input, context, now);
    // The schedule is checked before the store opens, so that bad input creates no file.
    await checkSchedule(spec, now);
    if (input.has('dry-run')) {
      printNextRuns(context.io, await previewSchedule(spec.timing, now), now);
      return;
    }
    await warnOfSecrets(context.io, [spec.job]);
    const app = await context.app();
    await printScheduleChange(context.io, 'added', await addSchedule(app, spec), now);
  },
});
