import { previewSchedule } from '../../actions/preview-schedule.ts';
import { addSchedule, checkSchedule } from '../../actions/schedules.ts';
import type { Command } from '../command.ts';
import { readScheduleSpec, SCHEDULE_FLAGS } from '../schedule-flags.ts';
import { printTimes, sayChanged } from '../schedule-table.ts';
import { warnOfSecrets } from '../warn-of-secrets.ts';

export default {
  name: 'schedule add',
  summary: 'Enqueue a job again and again, by the calendar or evenly',
  args: 'NAME COMMAND | -- PROGRAM ARG…',
  most: 2,
  rest: true,
  flags: { ...SCHEDULE_FLAGS, 'dry-run': { help: 'say when it would fire, and add nothing' } },
  prints: { object: 'Schedule' },
  examples: [
    "queuectl schedule add nightly --cron '30 2 * * *' --tz Europe/Berlin 'make backup'",
    'queuectl schedule add ping --every 90s --queue net -- curl -fsS https://example.org/up',
    "queuectl schedule add report --cron '0 9 * * mon-fri' --overlap queue --catch-up all 'make report'",
    "queuectl schedule add x --cron '0 0 29 2 *' --dry-run true",
  ],
  notes: [
    'Workers enqueue the jobs; each finds its nominal time in QUEUECTL_SCHEDULED_AT. Where the clocks change, a time',
    'that is skipped comes once, an hour later, and one that comes twice is meant the first time; an expression for',
    'every hour goes on evenly.',
  ],
  async run(context, input) {
    const now = Date.now();
    const spec = readScheduleSpec(input, { environment: context.environment, cwd: () => context.cwd }, now);
    // Before the store opens: bad input leaves no file behind.
    await checkSchedule(spec, now);
    if (input.has('dry-run')) {
      printTimes(context.io, await previewSchedule(spec.timing, now), now);
      return 0;
    }
    warnOfSecrets(context.io, [spec.job]);
    const app = await context.app();
    await sayChanged(context.io, 'added', await addSchedule(app, spec), now);
    return 0;
  },
} satisfies Command as Command;
